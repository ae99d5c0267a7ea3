/**
 * Reads a bot and the modules of its own that it imports, and looks for the packages that they import, without running any of it. Writes one
 * line of JSON: `{checked, how, bot, problems: [{kind, file, line, text, module}]}`. JavaScript is parsed by Node itself; TypeScript where Node
 * can take types off, or where the project has a compiler.
 */
export const NODE_CHECK = String.raw`
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { spawnSync } from 'node:child_process'

const [root, entry, givenText] = process.argv.slice(-3)
const given = givenText.split(',')
const problems = []
const seen = new Set()
const waiting = [resolve(root, entry)]
const EXTENSIONS = ['', '.ts', '.mts', '.js', '.mjs', '.cjs', '.json', '/index.ts', '/index.js', '/index.mjs']
const own = createRequire(waiting[0])
const typescript = (() => { try { return own('typescript') } catch { return undefined } })()
const strip = module.stripTypeScriptTypes
const how = strip ? 'node' : typescript?.transpileModule ? 'typescript' : 'none'
process.removeAllListeners('warning')

function file(path) {
  const bases = [path, path.replace(/\.(c|m)?js$/, '.$1ts')]
  return bases.flatMap((base) => EXTENSIONS.map((end) => base + end)).find((name) => existsSync(name) && statSync(name).isFile())
}

// Whether anything has this name, with whatever ending: what loads the bot may know more of them than we do.
function there(path) {
  const names = existsSync(dirname(path)) ? readdirSync(dirname(path)) : []
  const name = basename(path)
  const bare = name.replace(/\.[cm]?jsx?$/, '')
  return existsSync(path) || names.some((other) => other.startsWith(name + '.') || other.startsWith(bare + '.'))
}

const EXPORTS_BOT = /\bexport\s+(?:async\s+)?(?:function\s*\*?|const|let|var|class)\s+bot\b|\bexport\s*\{[^}]*\bbot\b|\bexport\s*\*|\bexports\b/
let bot = true

function installed(from, name) {
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'node_modules', name))) return true
    if (folder === dirname(folder)) return false
  }
}

function syntax(path, text) {
  const name = relative(root, path)
  const problem = (line, message) => problems.push({ kind: 'syntax', file: name, line, module: '', text: message })
  if (/\.[cm]?ts$/.test(path)) {
    if (strip) {
      try { strip(text, { mode: 'strip' }) } catch (error) {
        if (error.code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') problem(1, 'SyntaxError: ' + error.message.split('\n')[0])
      }
    } else if (typescript?.transpileModule) {
      const { diagnostics = [] } = typescript.transpileModule(text, { reportDiagnostics: true, fileName: path })
      const [first] = diagnostics
      if (first) problem(text.slice(0, first.start).split('\n').length, 'SyntaxError: ' + typescript.flattenDiagnosticMessageText(first.messageText, ' '))
    }
    return
  }
  const { status, stderr } = spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' })
  if (status === 0) return
  const line = Number(/:(\d+)\n/.exec(stderr)?.[1] ?? 1)
  problem(line, /^\w*Error: .*$/m.exec(stderr)?.[0] ?? 'SyntaxError')
}

while (waiting.length > 0 && seen.size < 500) {
  const path = file(waiting.pop())
  if (path === undefined || seen.has(path) || path.endsWith('.json')) continue
  seen.add(path)
  const text = readFileSync(path, 'utf8')
  syntax(path, text)
  const code = text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
  if (seen.size === 1) bot = EXPORTS_BOT.test(code)
  const pattern = /^[ \t]*(?:import|export)\s+(?!type\b)(?:[\w$*{},\s]+?\s+from\s+)?(['"])([^'"\n]+)\1|^(?:const|let|var)\s+[\w${'$'}{},:\s]+?=\s*require\(\s*(['"])([^'"\n]+)\3\s*\)/gm
  for (const match of code.matchAll(pattern)) {
    const name = match[2] ?? match[4]
    const line = code.slice(0, match.index).split('\n').length + (match[0].match(/^\n*/)?.[0].length ?? 0)
    if (/^\.{1,2}(?:\/|$)/.test(name)) {
      const target = resolve(dirname(path), name.replace(/[?#].*$/, ''))
      waiting.push(target)
      if (!there(target)) problems.push({ kind: 'import', file: relative(root, path), line, module: name, text: "Cannot find module '" + name + "'" })
      continue
    }
    if (/^(?:#|\/|~|@\/)/.test(name) || name.includes(':') || module.isBuiltin(name)) continue
    const parts = name.split('/')
    const top = name.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]
    if (given.includes(top) || given.includes(parts[0]) || installed(path, top)) continue
    problems.push({ kind: 'import', file: relative(root, path), line, module: top, text: "Cannot find package '" + top + "'" })
  }
}

process.stdout.write(JSON.stringify({ checked: seen.size, how, bot, problems }) + '\n')
`
