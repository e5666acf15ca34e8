import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyInfo } from '@grantry/core'
import { sha256Of } from '@grantry/testing'
import { expect } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { printed } from './printed.ts'

export const directory = sharedDirectory('keys')

export const encryptionSecret = 'a-secret-of-thirty-two-characters'

/** The number of configurations written, which is part of their paths. */
export let count = 0
export function configuration(more: object = {}): string {
  count += 1
  const file = join(directory, `c${count}.json`)
  const storage = { driver: 'filesystem', directory: `./data${count}`, fsync: false }
  const clients = [
    {
      clientId: 'web',
      secrets: [{ sha256: sha256Of('web-secret') }],
      grantTypes: ['client_credentials'],
      scopes: ['api1'],
    },
  ]
  const scopes = [{ name: 'api1' }]
  writeFileSync(
    file,
    JSON.stringify({ issuer: 'http://127.0.0.1:8484', storage, clients, scopes, keys: { encryptionSecret }, ...more }),
  )
  return file
}

export const keysCommand = (file: string, ...line: readonly string[]) => printed('keys', ...line, '--config', file)

export async function keysAfter(file: string, ...line: readonly string[]): Promise<readonly KeyInfo[]> {
  const { code, out } = await keysCommand(file, ...line, '--json')
  expect(code).toBe(0)
  return JSON.parse(out)
}

export const stateOf = (keys: readonly KeyInfo[], kid: string | undefined) => keys.find((key) => key.kid === kid)?.state
