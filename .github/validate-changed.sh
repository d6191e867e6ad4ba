#!/usr/bin/env bash
# The step "Validate invoices" of action.yml. Settings are environment variables: FILES (pathspecs), ALL, ARGUMENTS, SARIF,
# BASE (the commit to compare with), EINVOICE_BIN (the folder of the command).
set -euo pipefail
read -ra patterns <<<"$FILES"
read -ra arguments <<<"${ARGUMENTS:-}"

changed() { # -> the invoices, each followed by NUL
    if [[ $ALL != true ]]; then
        # A checkout usually has one commit only; a new branch has no commit before (zeros).
        if git cat-file -e "${BASE:-none}^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "${BASE:-none}" 2>/dev/null
        then
            git diff --name-only -z --diff-filter=d "$BASE" HEAD -- "${patterns[@]}"
            return
        fi
        echo "::notice::The commit before is not known; all invoices are validated." >&2
    fi
    git ls-files -z -- "${patterns[@]}"
}

mapfile -d '' -t invoices < <(changed)
if ((${#invoices[@]} == 0)); then
    echo "No invoices have changed."
    exit
fi
status=0
"$EINVOICE_BIN/einvoice" validate "${arguments[@]}" --format github "${invoices[@]}" || status=$?
if [[ $SARIF ]]; then
    "$EINVOICE_BIN/einvoice" validate "${arguments[@]}" --format sarif -o "$SARIF" "${invoices[@]}" || :
    [[ -s $SARIF ]]
fi
exit "$status"
