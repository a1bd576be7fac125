from routh.auditing.membership import Audit as Audit
from routh.auditing.membership import Broken as Broken
from routh.auditing.membership import audit as audit
from routh.auditing.membership import best_impulse as best_impulse
from routh.auditing.membership import broken_laws as broken_laws
from routh.auditing.scans import Scan as Scan
from routh.auditing.scans import scan as scan
