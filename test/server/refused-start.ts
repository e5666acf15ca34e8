// Starts of the ready server that end with one line.
import { chmodSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { writeSetting } from '../support/server-setting.ts'
import { printed } from './printed.ts'
import type { Ending } from './start-up.ts'

export const serve = (file: string): readonly string[] => [
  'serve',
  ...['--config', file],
  ...['--port', '0'],
  ...['--log-format', 'text'],
]

/** Writes a configuration with this storage, which every user can read. @param directory the test removes it */
export function configured(directory: string, storage: object): string {
  const home = mkdtempSync(join(directory, 'refused-'))
  chmodSync(home, 0o755)
  const file = writeSetting(home, 'http://127.0.0.1:8484', storage, 1)
  for (const name of ['jwks.json', 'grantry.config.json']) chmodSync(join(home, name), 0o644)
  return file
}

/** The password in the configurations, which no output may contain. */
export const storagePassword = 'a-password-that-otherUser-may-read'

/** Returns the one-line error without the names of the program and the file, and checks that it contains no password. */
export function sentenceOf(file: string, { code, out, err }: Ending): string {
  expect(out).toBe('')
  expect(err).not.toContain(storagePassword)
  expect(err.trimEnd().split('\n')).toHaveLength(1)
  const start = `grantry: ${file}: `
  expect(err.slice(0, start.length)).toBe(start)
  expect(code).toBe(1)
  return err.slice(start.length).trimEnd()
}

/** Starts a server with this storage in this process, and returns the sentence with which it ends. */
export async function refusal(directory: string, storage: object): Promise<string> {
  const file = configured(directory, storage)
  return sentenceOf(file, await printed(...serve(file)))
}
