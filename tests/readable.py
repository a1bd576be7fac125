"""The rule that every picture keeps: a person can read all of it."""

from itertools import combinations


def hidden_ticks(fig):
    """Tick labels outside of their axis' limits are made and not drawn."""
    gone = set()
    for ax in fig.axes:
        for axis in (ax.xaxis, ax.yaxis):
            drawn = axis._update_ticks() if ax.axison else []
            kept = {id(tick.label1) for tick in drawn}
            gone |= {id(tick.label1) for tick in axis.get_major_ticks() if id(tick.label1) not in kept}
            if not ax.axison:
                gone.add(id(axis.label))
    return gone


def texts(fig):
    """Every text that is drawn, with its box in pixels."""
    import matplotlib.text

    fig.draw_without_rendering()
    gone = hidden_ticks(fig)
    owners = [ax for ax in fig.axes if ax.get_visible()] + [*fig.legends, *fig.texts]
    found = [text for owner in owners for text in owner.findobj(matplotlib.text.Text)]
    return [
        (text, text.get_window_extent())
        for text in found
        if text.get_text().strip() and text.get_visible() and id(text) not in gone
    ]


def assert_all_can_be_read(fig):
    """No text is cut off or lies over another one, and no axis has an offset."""
    shown = texts(fig)
    edge = (
        fig.get_tightbbox().transformed(fig.dpi_scale_trans)
        if any(ax.get_aspect() != "auto" for ax in fig.axes)
        else fig.bbox
    )
    for text, box in shown:
        assert edge.x0 - 1.0 <= box.x0 <= box.x1 <= edge.x1 + 1.0, text.get_text()
        assert edge.y0 - 1.0 <= box.y0 <= box.y1 <= edge.y1 + 1.0, text.get_text()
    for ax in fig.axes:
        assert not ax.xaxis.get_offset_text().get_text()
        assert not ax.yaxis.get_offset_text().get_text()
    for (one, a), (other, b) in combinations(shown, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        up = min(a.y1, b.y1) - max(a.y0, b.y0)
        assert across < 1.0 or up < 1.0, (one.get_text(), other.get_text())
