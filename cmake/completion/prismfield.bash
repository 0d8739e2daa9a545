# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# Completion of prismfield for bash; zsh takes it by bashcompinit. The program itself is asked for its commands, options
# and keys, so that this file stays as it is when they change.

# _prismfield_commands PROGRAM
_prismfield_commands() { "$1" --help 2>/dev/null | sed -n 's/^  prismfield \([a-z]*\) .*/\1/p'; }

# _prismfield_options PROGRAM COMMAND
_prismfield_options() {
  "$1" "$2" --help 2>/dev/null | sed -n -e 's/^  -h,--help .*/--help/p' -e 's/^  \(--[a-z-]*\) .*/\1/p'
}

# _prismfield_files SUFFIX...: folders, and files that end so; all files without a suffix.
_prismfield_files() {
  local file suffix
  compopt -o filenames 2>/dev/null
  while IFS= read -r file; do
    if [ -d "$file" ] || [ $# -eq 0 ]; then
      COMPREPLY+=("$file")
      continue
    fi
    for suffix in "$@"; do
      [[ $file == *"$suffix" ]] && COMPREPLY+=("$file")
    done
  done < <(compgen -f -- "$word")
}

# _prismfield_words WORD...
_prismfield_words() {
  local found
  while IFS= read -r found; do
    COMPREPLY+=("$found")
  done < <(compgen -W "$*" -- "$word")
}

# _prismfield_keys COMMAND: paths with the = that --set takes behind them.
_prismfield_keys() {
  local keys=$("$program" help --keys 2>/dev/null)
  [ "$1" = study ] && keys="$keys $("$program" help --study-keys 2>/dev/null)"
  compopt -o nospace 2>/dev/null
  _prismfield_words $(printf '%s=\n' $keys)
}

_prismfield() {
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before= command= i
  [ "$COMP_CWORD" -gt 0 ] && before=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} != -* ]]; then
      command=${COMP_WORDS[i]}
      break
    fi
  done
  if [ -z "$command" ]; then
    _prismfield_words $(_prismfield_commands "$program") --help --version
    return
  fi
  case $before in
    --set) _prismfield_keys "$command"; return ;;
    --output | --mesh | --join) _prismfield_files; return ;;
    --from | --to | --field | --density-unit | --output-density-unit | --axes | --output-axes | --inactive | \
      --tolerance | --machine) return ;;
  esac
  if [[ $word == -* ]]; then
    _prismfield_words $(_prismfield_options "$program" "$command")
    return
  fi
  case $command in
    run | sensitivity | invert | study) _prismfield_files .yaml .yml ;;
    compare) _prismfield_files .h5 .nc .csv .xyz ;;
    help) _prismfield_words $(_prismfield_commands "$program") $("$program" help --keys 2>/dev/null) ;;
    info) ;;
    *) _prismfield_files ;;
  esac
}

complete -F _prismfield prismfield
