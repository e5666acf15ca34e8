// A secret that was added in this second works in a process that remembers the client, and guesses read it once in a second.
import { storedEntries } from '@grantry/administration'
import { type EntryStore, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sha256Of } from '@grantry/testing'
import { expect, test } from 'vitest'
import { builtInPlugins, fixture } from '../support/fixture.ts'

async function setting() {
  const storage = memoryDriver()
  const entries = openEntries({ issuer: 'https://id.example.com', storage })
  const state = { reads: 0 }
  const counted: EntryStore = {
    ...entries,
    getWithRevision(kind, id) {
      state.reads += 1
      return entries.getWithRevision(kind, id)
    },
  }
  const source = storedEntries({ entries: counted, cacheFor: 5 })
  const f = await fixture({ storage, plugins: [builtInPlugins, source] })
  const valueWith = (...secrets: readonly string[]) => ({
    client: {
      clientId: 'shop',
      grantTypes: ['client_credentials'],
      scopes: ['api1'],
      secrets: secrets.map((secret) => ({ sha256: sha256Of(secret) })),
    },
    tags: [],
    createdAt: '',
    changedAt: '',
  })
  const { version = '' } = (await entries.create('client', 'shop', valueWith('first'))) ?? {}
  const rotate = () => entries.replace('client', 'shop', version, valueWith('first', 'second'))
  const status = async (secret: string) =>
    (await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, ['shop', secret])).status
  return { ...f, rotate, state, status }
}

test('a new secret works immediately, also in a process that remembers the client', async () => {
  const { clock, rotate, status } = await setting()
  expect(await status('first')).toBe(200)
  clock.advance(1)
  expect(await status('second')).toBe(401)
  clock.advance(1)
  await rotate()
  expect([await status('second'), await status('first')]).toEqual([200, 200])
})

test('guesses at a secret read the client once in a second', async () => {
  const { clock, state, status } = await setting()
  await status('first')
  state.reads = 0
  clock.advance(1)
  const guesses = async (...secrets: readonly string[]) => Promise.all(secrets.map(status))
  expect(await guesses('a', 'b', 'c')).toEqual([401, 401, 401])
  expect(await guesses('d', 'e')).toEqual([401, 401])
  expect(state.reads).toBe(1)
  expect(await status('first')).toBe(200)
  expect(state.reads).toBe(1)
})
