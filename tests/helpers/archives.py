"""ZIP archives for tests."""

import io
import warnings
import zipfile


def archive(files, compression=zipfile.ZIP_DEFLATED):
    """Return a ZIP of pairs of name and content."""
    target = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(target, "w", compression) as written:
        warnings.simplefilter("ignore")  # names may be repeated
        for name, content in files:
            written.writestr(name, content)
    return target.getvalue()
