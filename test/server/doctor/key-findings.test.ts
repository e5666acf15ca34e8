import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { printed } from '../printed.ts'
import { checked } from './checked.ts'
import { healthy, strong, written } from './configurations.ts'

describe('grantry check finds', () => {
  test('an unencrypted key ring although there is an encryption secret', async () => {
    const kept = { ...healthy, keys: {} }
    const { file } = written(kept)
    await printed('keys', 'list', '--config', file)
    writeFileSync(file, JSON.stringify({ ...kept, keys: { encryptionSecret: strong('ring') } }))
    const { findings } = await checked(file)
    expect(findings).toMatchObject([
      { id: 'keys-unreadable', severity: 'error', where: 'keys', reason: expect.stringContaining('grantry keys seal') },
    ])
  })

  test('a refused key that is the current key in the store', async () => {
    const secured = { ...healthy, keys: { encryptionSecret: strong('ring') } }
    const { file } = written(secured)
    const { out } = await printed('keys', 'list', '--json', '--config', file)
    const [{ kid }] = JSON.parse(out)
    writeFileSync(file, JSON.stringify({ ...secured, keys: { ...secured.keys, refused: [kid] } }))
    const { findings } = await checked(file)
    expect(findings).toMatchObject([
      { id: 'key-refused-in-store', severity: 'warning', where: 'keys.refused', reason: expect.stringContaining(kid) },
    ])
    // A server, or a command, replaces the key. A check writes none.
    expect((await checked(file)).findings).toEqual(findings)
    await printed('keys', 'list', '--config', file)
    expect((await checked(file)).findings).toEqual([])
  })

  test('a key file that has not changed for two years', async () => {
    const { directory, file } = written(healthy)
    const old = Date.now() / 1000 - 2 * 365 * 86_400
    utimesSync(join(directory, 'keys.json'), old, old)
    expect((await checked(file)).findings).toMatchObject([{ id: 'key-old', where: 'keys.jwks' }])
  })
})
