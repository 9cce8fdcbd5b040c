# Counts skipped tests by reason, in what pytest and GoogleTest wrote.
/^SKIPPED \[[0-9]+\] / {  # of pytest
  tests = substr($2, 2) + 0
  sub(/^SKIPPED \[[0-9]+\] [^ ]+: /, "")
  count[$0] += tests
}
follows { count[$0]++ }
{ follows = /: Skipped$/ }  # of GoogleTest
END { for (reason in count) printf "%6d  %s\n", count[reason], reason }
