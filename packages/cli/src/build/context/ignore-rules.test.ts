import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IgnoreRules, type Met } from './ignore-rules.ts'

/** Judges a path as the walk does: folder by folder, without going into what cannot be kept. */
function isIgnored(rules: IgnoreRules, path: string): boolean {
  const parts = path.split('/')
  let met: Met | undefined
  for (let count = 1; count <= parts.length; count += 1) {
    const place = parts.slice(0, count).join('/')
    const judged = rules.judge(place, met)
    if (count === parts.length) return judged.ignored
    if (judged.ignored && !rules.mayKeepInside(place)) return true
    met = judged.met
  }
  return false
}

const TABLE: readonly (readonly [file: string, ignored: readonly string[], kept: readonly string[]])[] = [
  // The documented examples.
  [
    '# comment\n*/temp*\n*/*/temp*\ntemp?',
    ['some/temporary.txt', 'some/temp/x', 'a/b/temp1', 'tempa'],
    ['temp', 'temporary', 'a/b/c/temp'],
  ],
  ['*.md\n!README.md', ['a.md'], ['README.md', 'docs/a.md']],
  ['*.md\n!README*.md\nREADME-secret.md', ['a.md', 'README-secret.md'], ['README.md', 'README-x.md']],
  ['*.md\nREADME-secret.md\n!README*.md', ['a.md'], ['README.md', 'README-secret.md']],
  ['/foo/bar', ['foo/bar', 'foo/bar/x'], ['bar', 'a/foo/bar', 'foo/barn']],
  ['foo/bar', ['foo/bar'], ['a/foo/bar']],
  ['**/*.go', ['a.go', 'a/b.go', 'a/b/c.go'], ['a.goo', 'go']],
  // Everything but a few.
  ['*\n!bot.py', ['a', 'b/c'], ['bot.py']],
  ['*\n!src', ['a', 'lib/a'], ['src/a', 'src/b/c']],
  ['*\n!src/a/keep', ['src/a/x', 'src/b'], ['src/a/keep', 'src/a/keep/x']],
  ['**\n!**/*.py', ['a', 'a/b.txt'], ['a.py', 'a/b/c.py']],
  ['**\n!util/web\nutil/web/foo', ['x', 'util/web/foo', 'util/x'], ['util/web/bar']],
  ['docs\n!docs/README.md', ['docs/a'], ['docs/README.md']],
  ['docs/\n!docs/README.md', ['docs/a'], ['docs/README.md']],
  ['a/b\n!a', ['a/b', 'a/b/c'], ['a/c']],
  ['a\n!a', [], ['a', 'a/b']],
  // Anchors: a name means the root only, unlike in .gitignore.
  ['build', ['build', 'build/x'], ['src/build', 'builds']],
  ['/dist', ['dist', 'dist/x'], ['src/dist']],
  ['node_modules', ['node_modules/a/b'], ['client/node_modules/a']],
  ['**/node_modules', ['node_modules/a', 'client/node_modules/a/b'], ['my_node_modules']],
  // `**` in all places.
  ['**', ['a', 'a/b'], []],
  ['**/', ['a', 'a/b'], []],
  ['a/**', ['a/b', 'a/b/c'], ['a', 'ab', 'b/a/c']],
  ['a/**/z', ['a/z', 'a/b/z', 'a/b/c/z'], ['az', 'a/bz', 'b/a/z']],
  ['a**/*.txt', ['a/x.txt', 'a/b/c/x.txt'], ['b/x.txt']],
  ['**/**/*.txt', ['x.txt', 'a/b/x.txt'], ['x.txt2']],
  ['**/dir2/*', ['dir2/a', 'a/dir2/b', 'a/dir2/b/c'], ['dir2']],
  ['**/.foo', ['.foo', 'a/.foo'], ['bar.foo']],
  ['**foo', ['foo', 'xfoo', 'a/foo', 'a/xfoo'], ['foox']],
  ['a/*.txt**', ['a/x.txt', 'a/x.txt.gz'], ['a/b/x.txt']],
  // One star and one question mark stay in a folder.
  ['*', ['a', 'a/b'], []],
  ['*.pyc', ['a.pyc'], ['a/b.pyc']],
  ['a?c', ['abc', 'a☺c'], ['ac', 'abbc', 'a/c']],
  ['a*c', ['ac', 'abbc'], ['a/c']],
  // Classes.
  ['a[b-d]e', ['abe', 'ade'], ['ae', 'aae']],
  ['a[^b-d]e', ['aae', 'aze'], ['abe']],
  ['[\\]x\\-]', [']', 'x', '-'], ['y', '\\']],
  ['[a-ζ]', ['α'], ['A']],
  // Escapes, and what means nothing.
  ['a\\*b', ['a*b'], ['ab', 'axb']],
  ['\\#x', ['#x'], ['x']],
  ['\\!x', ['!x'], ['x']],
  ['a\\\\', ['a\\'], ['a']],
  ['a.b+c(d)|{e}$^', ['a.b+c(d)|{e}$^'], ['axb+c(d)|{e}$^']],
  // Cleaning.
  ['a//b/', ['a/b'], ['a']],
  ['./a', ['a'], []],
  ['a/./b', ['a/b'], []],
  ['x/../a', ['a'], ['x']],
  ['../a', [], ['a']],
  ['.', [], ['a']],
  ['/', [], ['a']],
  ['  a  ', ['a'], []],
  ['a\r\nb\r\n', ['a', 'b'], []],
  ['\uFEFFa', ['a'], []],
  ['\uFEFF# a', [], ['a', '# a']],
  [' # a', ['# a'], ['a']],
  ['a # b', ['a # b'], ['a']],
  ['\n\n   \n', [], ['a']],
  ['a\n! /a', [], ['a']],
  ['a\n!/a', [], ['a']],
  ['!a\na', ['a'], []],
  ['a b', ['a b'], ['a', 'b']],
]

describe('an ignore file', () => {
  it.each(TABLE)('%j', (file, ignored, kept) => {
    const rules = IgnoreRules.parse(file, '.dockerignore')
    expect(ignored.filter((path) => !isIgnored(rules, path))).toEqual([])
    expect(kept.filter((path) => isIgnored(rules, path))).toEqual([])
  })

  it.each([
    ['a\n!', '.dockerignore, line 2: "!" needs a pattern after it'],
    ['[', 'line 1: "[" has no "]"'],
    ['a[b', 'line 1: "[" has no "]"'],
    ['[]a]', '"]" stands where "[…]" needs a character; write "\\]"'],
    ['[x-]', '"]" stands where'],
    ['[-x]', '"-" stands where'],
    ['[b-a]', '"b-a" is no range'],
    ['a\\', 'nothing stands after the last "\\"'],
    ['[\n[', 'line 2'],
  ])('%j is refused', (file, message) => {
    expect(() => IgnoreRules.parse(file, '.dockerignore')).toThrow(message)
  })
})

it('never skips a folder that holds something to keep', () => {
  const part = fc.constantFrom('a', 'b', '*', '**', 'a*', '?', 'ab', '[^a]')
  const pattern = fc
    .tuple(fc.boolean(), fc.array(part, { minLength: 1, maxLength: 4 }))
    .map(([negated, parts]) => `${negated ? '!' : ''}${parts.join('/')}`)
  const name = fc.constantFrom('a', 'b', 'ab', 'c')
  fc.assert(
    fc.property(
      fc.array(pattern, { maxLength: 5 }),
      fc.array(name, { minLength: 1, maxLength: 5 }),
      (patterns, names) => {
        const rules = IgnoreRules.parse(patterns.join('\n'), 'x')
        const path = names.join('/')
        // Judged by going into every folder.
        let met: Met | undefined
        let expected = false
        for (let count = 1; count <= names.length; count += 1) {
          const judged = rules.judge(names.slice(0, count).join('/'), met)
          met = judged.met
          expected = judged.ignored
        }
        expect(isIgnored(rules, path)).toBe(expected)
      },
    ),
    { numRuns: 2000 },
  )
})
