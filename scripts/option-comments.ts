// The comments of options, for the JSON Schema of the configuration. A schema has no comments at run time, so an entry is found
// in the sources by the names beside it.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The entries of an object in a source, each with its comment, or without. */
type Block = ReadonlyMap<string, string>

const root = fileURLToPath(new URL('..', import.meta.url))
// What the configuration has itself comes before the options of plugins.
const folders = [
  'packages/server/src',
  'packages/administration/src',
  'packages/core/src',
  'packages/pages/src',
  'packages/users/src',
  'packages/mail/src',
  'plugins',
]

const plain = (comment: string): string =>
  comment
    .replaceAll(/\n\s*\* ?/gu, ' ')
    .replaceAll('`', '')
    .trim()

/** Objects that end with a line of the indentation of their first one. One name alone does not identify an object. */
function blocksIn(text: string): readonly Block[] {
  return [...text.matchAll(/^( *)\S[^\n]*\{\n(?=(.*?)^\1\})/gmsu)].flatMap(([, indent = '', body = '']) => {
    const entry = new RegExp(
      `(?:^ {${indent.length + 2}}/\\*\\*((?:(?!\\*/).)*)\\*/\\n)?^ {${indent.length + 2}}(\\w+)(?=:|,$)`,
      'gmsu',
    )
    const entries = [...body.matchAll(entry)].map(([, comment = '', name = '']) => [name, plain(comment)] as const)
    return entries.length < 2 ? [] : [new Map(entries)]
  })
}

const blocks: readonly Block[] = folders
  .flatMap((folder) => readdirSync(`${root}${folder}`, { recursive: true }).map((path) => `${root}${folder}/${path}`))
  .filter((path) => path.endsWith('.ts') && !/\/(?:node_modules|dist)\//u.test(path))
  .map((path) => readFileSync(path, 'utf8'))
  .filter((text) => text.includes("from 'valibot'"))
  .flatMap(blocksIn)
  .sort((a, b) => b.size - a.size)

/** Returns the comment of an option, beside which an object has these names; `undefined` without one, or if objects differ. */
export function commentOf(name: string, names: readonly string[]): string | undefined {
  const fitting = blocks.filter((block) => block.has(name) && [...block.keys()].every((each) => names.includes(each)))
  const isLikeFirst = (block: Block): boolean =>
    block.size === fitting[0]?.size && [...block.keys()].every((each) => fitting[0]?.has(each))
  const comments = new Set(fitting.filter(isLikeFirst).map((block) => block.get(name)))
  const [comment] = comments
  return comments.size === 1 ? comment || undefined : undefined
}
