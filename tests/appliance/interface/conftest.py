"""The web app in Chromium."""

import pytest

from tests.helpers.web_app import Page


@pytest.fixture
def opened(browser, server):
    """Open the page; afterwards, require no external requests, console errors or policy violations."""
    pages = []

    def opened(**options):
        pages.append(Page(browser, server, **options))
        return pages[-1]

    yield opened
    for page in pages:
        violations = page.violations()
        page.close()
        assert violations == []
        assert page.console_errors == []
        assert page.external_requests(str(server.base)) == []


@pytest.fixture
def page(opened):
    return opened()
