"""Widgets in Chromium, with a minimal notebook frontend."""

import pytest

from tests.helpers.chromium import MonitoredPage

pytest.importorskip("anywidget", reason="the extra notebook is not installed")
from ipywidgets import DOMWidget

NOTEBOOK = """async (script) => {
  const { default: widget } = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const state = await ask({}), listeners = {};
  let changed = {};
  const notify = (key) => (listeners["change:" + key] ?? []).forEach((listener) => listener());
  const model = {
    get: (key) => state[key],
    set(key, value) { state[key] = changed[key] = value; notify(key); },
    async save_changes() {
      const sent = changed;
      changed = {};
      const now = await ask(sent), changes = Object.keys(now).filter((key) => JSON.stringify(now[key]) !== JSON.stringify(state[key]));
      Object.assign(state, now);
      changes.forEach(notify);
    },
    on: (event, listener) => (listeners[event] ??= []).push(listener),
  };
  widget.render({ model, el: document.body });
}"""  # noqa: E501
PAGE = "<!doctype html><style>:root { color-scheme: light dark; background: Canvas }</style><body>"

# Contrast of every text with its background (WCAG 2), relative to the required contrast: 4.5 for text, 3 for icons.
# Lowest first.
CONTRASTS = """(root) => {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = paint.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3]));
  const behind = (element) => {
    if (!element) return [255, 255, 255];
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, behind(element.parentElement));
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((it) => it / 255).map((it) => (it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return [...root.querySelectorAll("*")]
    .filter((it) => it.checkVisibility() && [...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .map((element) => {
      const below = behind(element), text = over(rgba(getComputedStyle(element).color), below);
      const [low, high] = [light(text), light(below)].sort((one, other) => one - other);
      const needed = /^[■▲○]\\s*$/.test(element.textContent) ? 3 : 4.5;
      return [(high + 0.05) / (low + 0.05) / needed, element.outerHTML.slice(0, 120)];
    })
    .sort(([one], [other]) => one - other);
}"""  # noqa: E501

marks = pytest.mark.slow


class NotebookPage(MonitoredPage):
    """A notebook page that records `problems`: console errors and external requests."""

    def __init__(self, browser, dark=False):
        super().__init__(browser, color_scheme="dark" if dark else "light", viewport={"width": 1100, "height": 1000})
        self.write("")

    @property
    def problems(self):
        return self.console_errors + self.external_requests()

    def write(self, html):
        """Replace the content of the page."""
        self.page.set_content(PAGE + html)

    def widget(self, view):
        """Show a widget on the page."""
        names = set(view.keys) - {"layout", "_css", "_esm", "_anywidget_id"} - set(DOMWidget().keys)

        def ask(changed):
            view.set_state(changed)
            return {name: getattr(view, name) for name in names}

        self.page.expose_function("ask", ask)
        self.page.add_style_tag(content=view._css)
        self.page.evaluate(NOTEBOOK, view._esm)
        return self.page

    def focus(self):
        """Return the label of the focused element, or its text."""
        return self.page.evaluate("(({ ariaLabel, innerText }) => ariaLabel ?? innerText)(document.activeElement)")

    def contrasts(self, root="body"):
        """Return relative contrast and element of every text, lowest first."""
        return self.page.locator(root).first.evaluate(CONTRASTS)
