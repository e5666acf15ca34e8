/**
 * Attack: an attacker has a refresh token that was rotated long ago (from a log, from a lost device), and reads the
 * storage: a backup, the disk, an open Redis. The tokens of a response are derived from the redeemed refresh token and a
 * nonce in the storage, so that a lost response can be repeated. The attacker derives the chain up to the refresh token
 * that is valid now: with nonces that have expired, too, because a disk, a log and a backup keep them.
 *
 * RFC 9700 section 4.14.2: a rotated refresh token is worthless. That it stays so beside a copy of the storage is
 * hardening; decision 89.
 */

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ProviderOptions, storedKeys } from '@grantry/core'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { createTestClock, mapDriver } from '@grantry/testing'
import { afterAll, expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'
import { privateKeyFor } from '../support/keys.ts'
import { refresh } from '../support/revocation.ts'
import { foundIn, refreshedChain } from '../support/spent-chain.ts'

type KeySource = NonNullable<ProviderOptions['keys']>

const retryWindow = 10

const directories: string[] = []
afterAll(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true }))))

const textOf = (items: ReadonlyMap<string, string>): string => JSON.stringify([...items])

/** Keys that the storage does not contain, or only encrypted. */
const secretKeys = {
  'of the configuration': async () => [await privateKeyFor('ES256')],
  'in the storage, encrypted': async () => storedKeys({ encryptionSecret: 'a-secret-of-at-least-32-characters' }),
}

test.each(Object.entries(secretKeys))(
  'with keys %s, a spent refresh token leads to no other one',
  async (_, keysOf) => {
    const clock = createTestClock()
    const items = new Map<string, string>()
    const chain = await refreshedChain(mapDriver(items, clock.now), { keys: await keysOf() }, clock)
    // In the window, and afterwards in a storage that has not removed what has expired.
    expect(textOf(items)).toContain('replay:')
    expect(foundIn(chain, textOf(items))).toEqual([])
    clock.advance(retryWindow)
    expect(foundIn(chain, textOf(items))).toEqual([])
  },
)

test('the bytes on the disk of the files driver lead from a spent refresh token to no other one', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'grantry-chain-'))
  directories.push(directory)
  const chain = await refreshedChain(filesystemDriver({ directory }))
  chain.clock.advance(retryWindow)
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const contents = await Promise.all(files.map((file) => readFile(file, 'utf8')))
  const copy = [...files, ...contents].join('\n')
  expect(copy).toContain('"nonce')
  expect(foundIn(chain, copy)).toEqual([])
})

test('with unencrypted keys in the storage, which sign tokens too, it leads to the next one while the nonce is there', async () => {
  const clock = createTestClock()
  const items = new Map<string, string>()
  const chain = await refreshedChain(mapDriver(items, clock.now), { keys: storedKeys() }, clock)
  expect(foundIn(chain, textOf(items))).toContain(chain.tokens.at(-1))
})

/** Sends the last refresh request again, to a process with these keys. */
async function retriedAt(keys: KeySource, first: KeySource) {
  const clock = createTestClock()
  const storage = mapDriver(new Map(), clock.now)
  const { tokens } = await refreshedChain(storage, { keys: first }, clock)
  const another = await fixture({ storage, keys, runtime: { now: clock.now } })
  const { body } = await refresh(another, tokens.at(-2) ?? '')
  return { repeated: body.refresh_token, newest: tokens.at(-1), error: body.error }
}

test.each(Object.entries(secretKeys))(
  'with keys %s, a retry at another process gets the same refresh token',
  async (_, keysOf) => {
    const keys = await keysOf()
    const { repeated, newest } = await retriedAt(keys, keys)
    expect(repeated).toBe(newest)
  },
)

test('while the keys of a configuration are replaced, a retry gets the same from a process with the other order', async () => {
  const [old, next] = [await privateKeyFor('ES256'), await privateKeyFor('ES256')]
  for (const [first, then] of [
    [
      [old, next],
      [next, old],
    ],
    [
      [next, old],
      [old, next],
    ],
  ]) {
    const { repeated, newest } = await retriedAt(then ?? [], first ?? [])
    expect(repeated).toBe(newest)
  }
})

test('a process that does not have the secret of the first response treats the retry as a replay', async () => {
  const [firstKey, secondKey] = [await privateKeyFor('ES256'), await privateKeyFor('ES256')]
  expect((await retriedAt([secondKey], [firstKey])).error).toBe('invalid_grant')
})
