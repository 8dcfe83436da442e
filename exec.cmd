@rem npm scripts begin with the `exec` of POSIX shells (docs/adr/0040-builds-compare-contents.md). cmd.exe has none.
@%*
