/** A shell that `gw completion` writes a script for. */
export type Shell = 'bash' | 'zsh' | 'fish';

/**
 * The setup of a shell. Each script passes the typed words to `gw complete` as arguments and evaluates none of them;
 * the shell itself completes file names.
 *
 * bash splits words at `=` and `:` (COMP_WORDBREAKS) and replaces the part behind the last of them. Source: bash(1),
 * "Programmable Completion"; zshcompsys(1); fish complete(1).
 */
export const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# Completes gw in bash. Written by "gw completion bash".
__gw_complete() {
    local -a words=()
    local i word before='' line value prefix='' current=\${COMP_WORDS[COMP_CWORD]}
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=\${COMP_WORDS[i]}
        if ((\${#words[@]} > 0)) && [[ $word == [=:]* || ($before == *[=:] && -n $word) ]]; then
            words[\${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        before=$word
    done
    # Where bash does not split at "=", it replaces the whole word.
    [[ $current == --*=* ]] && prefix=\${current%%=*}=
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :none) compopt +o default 2>/dev/null ;;
            :folders) compopt +o default -o dirnames 2>/dev/null ;;
            :files) ;;
            *)
                value=\${line%%$'\\t'*}
                COMPREPLY+=("$prefix$value")
                ;;
        esac
    done < <(gw complete -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F __gw_complete gw`,

  zsh: `#compdef gw
# Completes gw in zsh. Written by "gw completion zsh".
_gw() {
    local -a lines choices
    local line
    lines=("\${(@f)$(gw complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    [[ \${words[CURRENT]} == --*=* ]] && compset -P '*='
    case \${lines[-1]} in
        :files) _files ;;
        :folders) _files -/ ;;
        :none)
            for line in "\${(@)lines[1,-2]}"; do
                line=\${line//:/\\\\:}
                choices+=("\${line/$'\\t'/:}")
            done
            _describe gw choices
            ;;
    esac
}
compdef _gw gw`,

  fish: `# Completes gw in fish. Written by "gw completion fish".
function __gw_complete
    set -l before (commandline -opc)
    set -e before[1]
    set -l current (commandline -ct)
    set -l prefix (string match -r -- '^--[^=]*=' "$current")
    set -l begun (string replace -- "$prefix" '' "$current")
    set -l lines (gw complete -- $before "$current" 2>/dev/null)
    switch "$lines[-1]"
        case :files
            set lines (__fish_complete_path "$begun") :files
        case :folders
            set lines (__fish_complete_directories "$begun") :folders
    end
    for line in $lines[1..-2]
        printf '%s\\n' "$prefix$line"
    end
end
complete -c gw -e
complete -c gw -f -a '(__gw_complete)'`,
};
