"""Small pictures as SVG, for notebooks. Text and axes take the colour of the page, so that they are seen on light and dark ones."""
from html import escape

COLOURS = ("#3b7dd8", "#e07b39", "#3a9d5d", "#b565c9", "#c94f4f", "#8a8a3a", "#4aa3a3", "#888888")
FONT = 'font-family="sans-serif" font-size="11" fill="currentColor"'


def number(value):
    return f"{value:.4g}"


def curves(title, series, width=300, height=170):
    """`series`: (name, values) with one value per epoch; what is not finite is left out."""
    points = {name: [(i, v) for i, v in enumerate(values) if v == v and abs(v) != float("inf")] for name, values in series}
    finite = [v for values in points.values() for _, v in values]
    if not finite:
        return ""
    low, high = min(finite), max(finite)
    last = max(len(values) for _, values in series) - 1
    left, right, top, bottom = 48, width - 8, 22, height - 36
    x = lambda i: left + (right - left) * (i / last if last else 0.5)
    y = lambda v: bottom - (bottom - top) * ((v - low) / (high - low) if high > low else 0.5)
    parts = [f'<text x="{left}" y="14" {FONT} font-weight="bold">{escape(title)}</text>',
             f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="currentColor" opacity="0.4"/>']
    parts += [f'<text x="{left - 4}" y="{y(v) + 4:.1f}" {FONT} text-anchor="end">{number(v)}</text>' for v in sorted({low, high})]
    parts += [f'<text x="{x(i):.1f}" y="{bottom + 13}" {FONT} text-anchor="middle">{i + 1}</text>' for i in sorted({0, last})]
    for k, (name, values) in enumerate(series):
        colour, at = COLOURS[k % len(COLOURS)], left + k * (right - left) / len(series)
        line = " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in points[name])
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x(i):.1f}" cy="{y(v):.1f}" r="2.5" fill="{colour}"/>' for i, v in points[name][-1:]]
        parts.append(f'<rect x="{at:.0f}" y="{height - 13}" width="9" height="9" fill="{colour}"/>')
        parts.append(f'<text x="{at + 13:.0f}" y="{height - 5}" {FONT}>{escape(name)} {number(values[-1])}</text>')
    return svg(width, height, parts)


def stack(parts, total, mark=None, width=620, height=26):
    """One bar of (bytes, colour, title) parts over `total`, with a line at `mark`."""
    drawn, at = [f'<rect x="0" y="4" width="{width}" height="{height - 8}" fill="currentColor" opacity="0.08"/>'], 0.0
    for size, colour, title in parts:
        wide = width * size / total if total else 0
        drawn.append(f'<rect x="{at:.1f}" y="4" width="{wide:.1f}" height="{height - 8}" fill="{colour}"><title>{escape(title)}</title></rect>')
        at += wide
    if mark is not None:
        place = min(width - 1, max(1, width * mark / total))
        drawn.append(f'<path d="M{place:.1f} 0V{height}" stroke="#d33" stroke-width="2"/>')
    return svg(width, height, drawn)


def svg(width, height, parts):
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" style="flex:none" role="img">{"".join(parts)}</svg>'


def text_bar(share, width=24):
    full = round(max(0.0, min(1.0, share)) * width)
    return "█" * full + "░" * (width - full)
