// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#include "case/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/emitter.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/human_text.hpp"
#include "base/number_text.hpp"

namespace prismfield {
namespace {

constexpr std::size_t largest_file = std::size_t{16} << 20;
constexpr std::size_t deepest = 64;

/// What a tree takes: aliases (*) make a large one of a few bytes.
struct TreeSize {
  std::size_t nodes = 0;
  std::size_t text_bytes = 0;
  std::size_t depth = 0;
};

/// A tree of the text may be as large as the text is, with room for aliases that people write.
TreeSize largest_tree(const std::string& text) {
  constexpr std::size_t most_nodes = std::size_t{4} << 20;
  constexpr std::size_t nodes_of_aliases = 100'000, text_of_aliases = std::size_t{1} << 20;
  return {std::min(most_nodes, nodes_of_aliases + 2 * text.size()), text_of_aliases + 2 * text.size(), deepest};
}

std::int32_t line_of(const YAML::Mark& mark) { return mark.line < 0 ? 1 : mark.line + 1; }

TreeSize size_of(const YamlNode& node) {
  TreeSize size{1, node.text.size(), 0};
  const auto add = [&](const YamlNode& below) {
    const TreeSize more = size_of(below);
    size.nodes += more.nodes;
    size.text_bytes += more.text_bytes;
    size.depth = std::max(size.depth, more.depth + 1);
  };
  for (const YamlNode& item : node.items) add(item);
  for (const YamlEntry& entry : node.entries) {
    add(entry.value);
    ++size.nodes;
    size.text_bytes += entry.key.size();
  }
  return size;
}

/// The line and the reason at which reading ended; turned into a Problem by those who know the file or option.
struct SyntaxError {
  std::int32_t line;
  std::string what;
};

SyntaxError nested_too_deeply(std::int32_t line) {
  return {line, fmt::format("lists or maps are nested too deeply; {} levels are the most", deepest)};
}

/// Builds the tree from the parser's events.
class TreeBuilder : public YAML::EventHandler {
public:
  TreeBuilder(std::string file, std::string parent, const char* option, TreeSize largest, ProblemList& problems)
      : m_file(std::move(file)),
        m_parent(std::move(parent)),
        m_option(option),
        m_largest(largest),
        m_problems(problems) {}

  [[nodiscard]] YamlNode take_root() { return std::move(m_root); }
  [[nodiscard]] std::int32_t last_line() const noexcept { return m_last_line; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (m_seen_document) {
      throw SyntaxError{line_of(mark),
                        "a second document begins here, and only one is read; take out the '---' or "
                        "'...' above, and indent keys and list items that belong together alike"};
    }
    m_seen_document = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    accept(leaf(YamlNode::Kind::null, mark), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    m_last_line = line_of(mark);
    const auto found = m_anchors.find(anchor);
    if (found == m_anchors.end()) throw SyntaxError{m_last_line, "this alias (*) refers to what it is part of"};
    count(size_of(found->second));
    accept(found->second, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = leaf(YamlNode::Kind::scalar, mark);
    node.text = value;
    node.quoted = tag == "!";
    refuse_tag(tag, node.line);
    accept(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(YamlNode::Kind::list, mark, tag, anchor, style);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(YamlNode::Kind::map, mark, tag, anchor, style);
  }
  void OnMapEnd() override { close(); }

private:
  /// A list or map whose end was not reached yet.
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    /// a map's key that waits for its value
    std::optional<YamlEntry> pending;
    /// the key is repeated or no word: it is read over
    bool pending_is_dropped = false;
    /// the lines of a map's keys
    std::map<std::string, std::int32_t> key_lines;
  };

  YamlNode leaf(YamlNode::Kind kind, const YAML::Mark& mark) {
    YamlNode node;
    node.kind = kind;
    node.line = line_of(mark);
    node.option = m_option;
    m_last_line = node.line;
    return node;
  }

  /// Throws SyntaxError when the tree passes its limits by what comes.
  void count(const TreeSize& more) {
    m_nodes += more.nodes;
    m_text_bytes += more.text_bytes;
    if (m_open.size() + more.depth > m_largest.depth) {
      throw nested_too_deeply(m_last_line);
    }
    if (m_nodes > m_largest.nodes || m_text_bytes > m_largest.text_bytes) {
      throw SyntaxError{m_last_line,
                        "too many values, or too long ones, once aliases (*) are expanded; keep long lists in files of "
                        "their own, which a case names"};
    }
  }

  /// Adds an error of the value that comes next, or of the key `child` of the map that does.
  void problem(std::int32_t line, const std::string& what, const std::string& child = "") {
    if (m_problems.is_full()) return m_problems.count_more(1);
    m_problems.add(place(line), child.empty() ? path() : join_key(path(), child), what);
  }

  void refuse_tag(const std::string& tag, std::int32_t line) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    problem(line, "the tag " + excerpt(tag) + " has no meaning here; leave it out");
  }

  [[nodiscard]] std::string place(std::int32_t line) const {
    return m_option != nullptr ? m_option : fmt::format("{}:{}", m_file, line);
  }

  /// Key path of the value that comes next.
  [[nodiscard]] std::string path() const {
    std::string keys = m_parent;
    for (const Open& open : m_open) {
      if (open.pending) {
        keys = join_key(keys, open.pending->key);
      } else if (open.node.kind == YamlNode::Kind::list) {
        keys = join_key(keys, std::to_string(open.node.items.size()));
      }
    }
    return keys;
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style) {
    Open next;
    next.node = leaf(kind, mark);
    next.node.flow = style == YAML::EmitterStyle::Flow;
    next.anchor = anchor;
    refuse_tag(tag, next.node.line);
    m_open.push_back(std::move(next));
    count({});
  }

  void close() {
    Open done = std::move(m_open.back());
    m_open.pop_back();
    accept(std::move(done.node), done.anchor);
  }

  void accept(YamlNode node, YAML::anchor_t anchor) {
    count({1, node.text.size(), 0});
    if (anchor != 0) {
      const TreeSize size = size_of(node);
      // the copy that aliases are made from
      count({size.nodes, size.text_bytes, 0});
      m_anchors[anchor] = node;
    }
    if (m_open.empty()) {
      m_root = std::move(node);
      return;
    }
    Open& parent = m_open.back();
    if (parent.node.kind == YamlNode::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.pending) {
      parent.pending->value = std::move(node);
      if (!parent.pending_is_dropped) parent.node.entries.push_back(std::move(*parent.pending));
      parent.pending.reset();
    } else {
      begin_entry(parent, std::move(node));
    }
  }

  void begin_entry(Open& parent, YamlNode key) {
    YamlEntry entry;
    entry.key_line = key.line;
    parent.pending_is_dropped = false;
    if (key.kind == YamlNode::Kind::scalar) {
      entry.key = std::move(key.text);
      constexpr std::size_t most_entries = 10000;
      if (parent.key_lines.size() > most_entries) {
        throw SyntaxError{m_last_line, fmt::format("more than {} keys in one map", most_entries)};
      }
      const auto [first, is_new] = parent.key_lines.try_emplace(entry.key, key.line);
      if (!is_new) {
        problem(key.line,
                m_option != nullptr ? std::string("is written twice; keep one")
                                    : fmt::format("is written twice, first in line {}; keep one", first->second),
                entry.key);
        parent.pending_is_dropped = true;
      }
    } else {
      problem(key.line, "a key must be a word; a list, a map or nothing stands before the ':'");
      parent.pending_is_dropped = true;
    }
    parent.pending = std::move(entry);
  }

  std::string m_file;
  std::string m_parent;
  const char* m_option;
  TreeSize m_largest;
  ProblemList& m_problems;
  YamlNode m_root;
  std::vector<Open> m_open;
  /// what anchors (&) name
  std::map<YAML::anchor_t, YamlNode> m_anchors;
  std::size_t m_nodes = 0;
  std::size_t m_text_bytes = 0;
  std::int32_t m_last_line = 1;
  bool m_seen_document = false;
};

/// Throws SyntaxError for too many open brackets. The parser holds each open one, at two hundred bytes, until it
/// returns any. Brackets in quotes and comments count too, but there are far fewer.
void check_brackets(const std::string& text) {
  constexpr std::int64_t most_open = 10'000;
  std::int64_t open = 0;
  std::int32_t line = 1;
  for (const char c : text) {
    if (c == '\n') ++line;
    if (c == '[' || c == '{') ++open;
    if ((c == ']' || c == '}') && open > 0) --open;
    if (open > most_open) throw nested_too_deeply(line);
  }
}

/// The parser's errors in terms of a case.
std::string plain_reason(const std::string& reason) {
  static const std::map<std::string, std::string> reasons = {
      {YAML::ErrorMsg::MAP_VALUE,
       "a ':' stands where no key can be; look at the indentation, and put a space after each ':', here and in the "
       "line above"},
      {YAML::ErrorMsg::TAB_IN_INDENTATION, "a tab is used as indentation; YAML allows spaces only"},
      {YAML::ErrorMsg::END_OF_SEQ_FLOW, "a list that begins with '[' lacks a ',' or its ']'"},
      {YAML::ErrorMsg::END_OF_MAP_FLOW, "a map that begins with '{' lacks a ',' or its '}'"},
      {YAML::ErrorMsg::FLOW_END, "a ']' or '}' closes nothing"},
      {YAML::ErrorMsg::END_OF_MAP, "this line belongs neither to the map above nor below; look at the indentation"},
      {YAML::ErrorMsg::END_OF_SEQ, "this line belongs neither to the list above nor below; look at the indentation"},
      {YAML::ErrorMsg::BLOCK_ENTRY, "a '- ' stands where no list item can be; look at the indentation"},
      {YAML::ErrorMsg::UNKNOWN_TOKEN, "a value cannot begin with this character; put it in quotes"},
      {YAML::ErrorMsg::UNKNOWN_ANCHOR, "this alias (*) has no anchor (&) of its name above"},
  };
  auto found = reasons.find(reason);
  // yaml-cpp from 0.8 on names the anchor behind it
  if (reason.starts_with(YAML::ErrorMsg::UNKNOWN_ANCHOR)) found = reasons.find(YAML::ErrorMsg::UNKNOWN_ANCHOR);
  return found == reasons.end() ? "this is no valid YAML: " + reason : found->second;
}

bool indented_by_tab(const std::string& text, std::int32_t line) {
  std::istringstream lines(text);
  std::string content;
  for (std::int32_t i = 0; i < line && std::getline(lines, content); ++i) {
  }
  const std::size_t end = content.find_first_not_of(" \t");
  return content.substr(0, end).find('\t') != std::string::npos;
}

/// Whether a bracket stands behind a word and a blank, as in a name with a unit: elev [m].
bool has_bracket_behind_word(const std::string& text) {
  for (std::size_t at = text.find(" ["); at != std::string::npos; at = text.find(" [", at + 1)) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) return true;
  }
  return false;
}

/// Reads a file, or the value of the key `parent` that an option gives. Throws SyntaxError.
YamlNode parse_document(const std::string& text, const std::string& file, const std::string& parent, const char* option,
                        ProblemList& problems) {
  check_brackets(text);
  // The end marker makes the parser refuse a quote that is never closed, which it would accept at the end of a file.
  std::istringstream stream(text + "\n...\n");
  TreeBuilder builder(file, parent, option, largest_tree(text), problems);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::DeepRecursion&) {
    throw nested_too_deeply(builder.last_line());
  } catch (const YAML::Exception& error) {
    if (error.msg == YAML::ErrorMsg::DOC_IN_SCALAR || error.msg == YAML::ErrorMsg::EOF_IN_SCALAR) {
      throw SyntaxError{builder.last_line(), "a quote that begins here is never closed"};
    }
    // What is missing at the end of a file is noticed behind it.
    const auto lines = std::count(text.begin(), text.end(), '\n') + (text.ends_with('\n') ? 0 : 1);
    const std::int32_t line = std::min(line_of(error.mark), static_cast<std::int32_t>(lines));
    std::string reason = plain_reason(indented_by_tab(text, line) ? YAML::ErrorMsg::TAB_IN_INDENTATION : error.msg);
    if (error.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW && has_bracket_behind_word(text)) {
      reason += "; a name with a unit in brackets is written in quotes";
    }
    throw SyntaxError{line, reason};
  }
  return builder.take_root();
}

/// Number of the first line that is not UTF-8 text, 0 when all is.
std::int32_t first_line_without_text(std::string_view text) {
  std::int32_t line = 1;
  while (!text.empty()) {
    const char c = text.front();
    const bool is_kept = c == '\n' || c == '\t' || text.starts_with("\r\n");
    const std::size_t bytes = bytes_of_character(text);
    if (bytes == 0 || (std::iscntrl(static_cast<unsigned char>(c)) != 0 && !is_kept)) return line;
    if (c == '\n') ++line;
    text.remove_prefix(bytes);
  }
  return 0;
}

void emit(YAML::Emitter& out, const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
    case YamlNode::Kind::removed: out << YAML::Null; break;
    case YamlNode::Kind::scalar:
      if (node.quoted) out << YAML::DoubleQuoted;
      out << node.text;
      break;
    case YamlNode::Kind::list:
      if (node.flow || node.items.empty()) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (const YamlNode& item : node.items) {
        if (item.kind != YamlNode::Kind::removed) emit(out, item);
      }
      out << YAML::EndSeq;
      break;
    case YamlNode::Kind::map:
      if (node.flow || node.entries.empty()) out << YAML::Flow;
      out << YAML::BeginMap;
      for (const YamlEntry& entry : node.entries) {
        if (entry.value.kind == YamlNode::Kind::removed) continue;
        out << YAML::Key << entry.key << YAML::Value;
        emit(out, entry.value);
      }
      out << YAML::EndMap;
      break;
  }
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const noexcept {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const YamlEntry& e) { return e.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

YamlNode* YamlNode::find(std::string_view key) noexcept {
  return const_cast<YamlNode*>(std::as_const(*this).find(key));
}

std::string join_key(const std::string& parent, const std::string& child) {
  std::string word = excerpt(child);
  word = word.substr(1, word.size() - 2);
  return parent.empty() ? word : parent + "." + word;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string where_of(const YamlNode& node, const std::string& file, std::int32_t line) {
  return node.option != nullptr ? std::string(node.option) : fmt::format("{}:{}", file, line);
}

std::string read_yaml_text(const std::filesystem::path& file) {
  const std::string name = file.string();
  std::error_code status;
  if (std::filesystem::is_directory(file, status)) throw InputError(name, "", "is a folder; a YAML file is expected");
  if (!std::filesystem::exists(file, status)) throw InputError(name, "", "there is no such file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError(name, "", "cannot be opened to read; look at its permissions");
  std::string text;
  constexpr std::size_t piece = std::size_t{1} << 16;
  while (stream && text.size() <= largest_file) {
    const std::size_t before = text.size();
    text.resize(before + piece);
    stream.read(text.data() + before, static_cast<std::streamsize>(piece));
    text.resize(before + static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) throw InputError(name, "", "could not be read");
  if (text.size() > largest_file) {
    throw InputError(name, "", "is larger than 16 MiB; keep long lists in files of their own, which a case names");
  }
  if (const std::int32_t line = first_line_without_text(text)) {
    throw InputError(fmt::format("{}:{}", name, line), "",
                     "holds bytes that are no UTF-8 text; a YAML file is expected, not data or another encoding");
  }
  return text;
}

YamlNode parse_yaml(const std::string& text, const std::string& file, ProblemList& problems) {
  try {
    return parse_document(text, file, "", nullptr, problems);
  } catch (const SyntaxError& error) {
    problems.add(fmt::format("{}:{}", file, error.line), "", error.what);
    problems.throw_if_any();
    throw;
  }
}

void apply_override(YamlNode& root, const std::string& assignment, ProblemList& problems) {
  static constexpr const char* option = "--set";
  const std::size_t equals = assignment.find('=');
  const std::string key = assignment.substr(0, equals);
  if (equals == std::string::npos || key.empty()) {
    problems.add(option, "", excerpt(assignment) + " has no key.path=value form, such as execution.slots=4");
    return;
  }
  const std::string content = assignment.substr(equals + 1);
  if (content.find_first_not_of(" \t") == std::string::npos) {
    problems.add(option, key, "has no value; write key.path=value, or null as the value to take the key out");
    return;
  }
  if (first_line_without_text(content) != 0 || first_line_without_text(key) != 0) {
    problems.add(option, excerpt(key), "holds bytes that are no UTF-8 text");
    return;
  }
  try {
    YamlNode value = parse_document(content, option, key, option, problems);
    value.option = option;
    if (value.kind == YamlNode::Kind::null) value.kind = YamlNode::Kind::removed;
    set_value(root, key, std::move(value), option, problems);
  } catch (const SyntaxError& error) {
    problems.add(option, key, "in " + excerpt(content) + ", " + error.what);
  }
}

void set_value(YamlNode& root, const std::string& path, YamlNode value, const char* option, ProblemList& problems) {
  const std::vector<std::string> keys = split(path, '.');
  if (std::find(keys.begin(), keys.end(), "") != keys.end()) {
    return problems.add(option, path, "the key has an empty part; write names joined by single dots");
  }
  YamlNode* node = &root;
  std::string walked;
  for (const std::string& key : keys) {
    // A document without content, and a parent that has no value or was removed, become maps.
    if (node->kind == YamlNode::Kind::null || node->kind == YamlNode::Kind::removed) {
      if (value.kind == YamlNode::Kind::removed) return;
      YamlNode map;
      map.kind = YamlNode::Kind::map;
      map.line = node->line;
      map.option = option;
      *node = std::move(map);
    }
    if (node->kind == YamlNode::Kind::list) {
      std::size_t index = 0;
      if (parse_integer(key, index) != NumberStatus::ok || index >= node->items.size()) {
        return problems.add(option, path,
                            fmt::format("{} is a list of {}, numbered from 0", walked.empty() ? "the document" : walked,
                                        node->items.size()));
      }
      node = &node->items[index];
    } else if (node->kind == YamlNode::Kind::map) {
      YamlNode* child = node->find(key);
      if (child == nullptr) {
        node->entries.push_back({key, node->line, {}});
        child = &node->entries.back().value;
        child->line = node->line;
        child->option = option;
        if (value.kind == YamlNode::Kind::removed) child->kind = YamlNode::Kind::removed;
      }
      node = child;
    } else {
      return problems.add(
          option, path,
          fmt::format("{} is {} there, not a map; set {} as a whole", walked, excerpt(node->text), walked));
    }
    walked = join_key(walked, key);
  }
  value.line = node->line;
  *node = std::move(value);
}

void set_text(YamlNode& root, const std::string& key, const std::string& text, const char* option,
              ProblemList& problems) {
  YamlNode value;
  value.kind = YamlNode::Kind::scalar;
  value.quoted = true;
  value.text = text;
  value.option = option;
  set_value(root, key, std::move(value), option, problems);
}

std::string to_yaml(const YamlNode& root) {
  YAML::Emitter out;
  emit(out, root);
  return std::string(out.c_str()) + "\n";
}

}  // namespace prismfield
