import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { reservedPort } from '../support/reserved-port.ts'

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

/** Replaces the port on which a program of a guide listens: two runs of the tests would meet there. */
export async function withReservedPort(code: string): Promise<string> {
  const [, shown] = /\.listen\((\d+)/u.exec(code) ?? []
  return shown === undefined || shown === '0' ? code : code.replaceAll(shown, String(await reservedPort()))
}
