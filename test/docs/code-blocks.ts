import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** A fenced code block. `info` is the text after the language: `run`, `demo` or `config`. */
export interface CodeBlock {
  readonly language: string
  readonly info: string
  readonly code: string
  readonly title: string
}

export function codeBlocks(document: string): readonly CodeBlock[] {
  const text = readFileSync(`${root}/${document}`, 'utf8')
  return [...text.matchAll(/^```(\w+)[^\S\n]*(.*)\n([\s\S]*?)^```$/gmu)].map((match) => {
    const line = text.slice(0, match.index).split('\n').length
    const [, language = '', info = '', code = ''] = match
    return { language, info, code, title: `${document}:${line}` }
  })
}
