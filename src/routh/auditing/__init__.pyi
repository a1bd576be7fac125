from routh.auditing.comparison import LawAnswer as LawAnswer
from routh.auditing.comparison import LawAudit as LawAudit
from routh.auditing.comparison import audit_laws as audit_laws
from routh.auditing.membership import Audit as Audit
from routh.auditing.membership import audit as audit
from routh.auditing.membership import broken_laws as broken_laws
from routh.auditing.scans import Scan as Scan
from routh.auditing.scans import scan as scan
