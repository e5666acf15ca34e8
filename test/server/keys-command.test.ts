// `grantry keys` works through the storage that it shares with a running server, which follows without a restart.

import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KeyInfo } from '@grantry/core'
import { basic } from '@grantry/testing'
import { decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose'
import { describe, expect, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { eventually } from '../support/eventually.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { configuration, count, directory, encryptionSecret, keysAfter, keysCommand, stateOf } from './keys-setting.ts'
import { printed } from './printed.ts'
import { startCommand } from './running-command.ts'

describe('next to a running server', () => {
  test('the server follows a rotation without a restart, and tokens issued before stay valid', async () => {
    const issuer = `http://127.0.0.1:${await reservedPort()}`
    const file = configuration({ issuer })
    const server = await startCommand(['serve', '--config', file])
    try {
      const send = async (path: string, form?: Record<string, string>): Promise<Response> =>
        fetch(`${issuer}${path}`, {
          headers: { authorization: basic(['web', 'web-secret']) },
          ...(form !== undefined && { method: 'POST', body: new URLSearchParams(form) }),
        })
      const token = async (): Promise<string> => {
        const response = await send('/connect/token', { grant_type: 'client_credentials', scope: 'api1' })
        return ((await response.json()) as { access_token: string }).access_token
      }
      const old = await token()
      const [before, waiting] = await keysAfter(file, 'list')
      expect(decodeProtectedHeader(old).kid).toBe(before?.kid)
      const rotated = await keysAfter(file, 'rotate', '--force')
      expect(stateOf(rotated, waiting?.kid)).toBe('current')
      await eventually(async () => expect(decodeProtectedHeader(await token()).kid).toBe(waiting?.kid))
      expect((await send('/connect/accesstokenvalidation', { token: old })).status).toBe(200)
      const published = (await (await send('/.well-known/jwks')).json()) as { keys: { kid: string }[] }
      expect(published.keys.map(({ kid }) => kid).sort()).toEqual(rotated.map(({ kid }) => kid).sort())
      expect(server.output().err).toContain('"grantry.keys":"in the storage, encrypted; rotated every 90 days"')
    } finally {
      expect(await server.stop()).toBe(0)
    }
  })
})

describe('a server', () => {
  const observe = () => {}
  const kids = async ({ provider }: GrantryServer) => (await provider.keys.list()).map(({ kid }) => kid)

  test('keeps its keys across restarts, the demo too', async () => {
    // The issuer of the demo contains the port, and another issuer has other keys.
    const port = await reservedPort()
    const server = await startServer({ directory, port, observe })
    const before = await kids(server)
    await server.close(0)
    const restarted = await startServer({ directory, port, observe })
    expect(await kids(restarted)).toEqual(before)
    await restarted.close(0)
  })

  test('accepts keys from a module, including external keys', async () => {
    const file = join(directory, 'module.mjs')
    writeFileSync(
      file,
      `import { generateKeyPairSync, sign } from 'node:crypto'
      const { publicKey, privateKey } = generateKeyPairSync('ed25519')
      const key = { publicKey: { ...publicKey.export({ format: 'jwk' }), kid: 'kms' }, sign: async (data) => sign(null, data, privateKey) }
      export default { issuer: 'http://127.0.0.1:8484', storage: { driver: 'memory' }, clients: [], keys: [key] }`,
    )
    const server = await startServer({ loaded: await loadConfiguration(file, {}), port: 0, observe })
    expect(await kids(server)).toEqual(['kms'])
    expect(server.keys).toBe('from the configuration')
    await server.close(0)
  })
})

describe('the commands', () => {
  test('list prints a table of states without key material', async () => {
    const file = configuration()
    const { code, out, err } = await keysCommand(file, 'list')
    expect(code).toBe(0)
    const [head, ...rows] = out.trimEnd().split('\n')
    expect(head?.split(/ {2,}/u)).toEqual(['KID', 'ALGORITHM', 'STATE', 'CREATED', 'SIGNS SINCE', 'ACCEPTED UNTIL'])
    expect(rows).toHaveLength(2)
    expect(rows[0]).toMatch(/^[\w-]{43} +ES256 +current +\S+Z +\S+Z +-$/u)
    expect(rows[1]).toMatch(/^[\w-]{43} +ES256 +next +\S+Z +- +-$/u)
    expect(err).toBe('')
  })

  test('rotate right after the keys were created is refused in one line, and works with --force', async () => {
    const file = configuration({ keys: { algorithms: ['ES256', 'EdDSA'] } })
    const before = await keysAfter(file, 'list')
    expect(await keysCommand(file, 'rotate')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /^grantry: keys: the next key was published too recently, so [^\n]+ wait \d+ s, or use force\n$/u,
      ),
    })
    const { out, err } = await keysCommand(file, 'rotate', '--force', '--json')
    const after: readonly KeyInfo[] = JSON.parse(out)
    expect(after.filter(({ state }) => state === 'retiring').map(({ kid }) => kid)).toEqual(
      before.filter(({ state }) => state === 'current').map(({ kid }) => kid),
    )
    expect(err.match(/keys_rotated/gu)).toHaveLength(2)
  })

  test('retire takes a key out of use, and deletes a compromised one', async () => {
    const file = configuration()
    const [current, next] = await keysAfter(file, 'list')
    const retired = await keysAfter(file, 'retire', current?.kid ?? '', '--force')
    expect([stateOf(retired, current?.kid), stateOf(retired, next?.kid)]).toEqual(['retiring', 'current'])
    const gone = await keysAfter(file, 'retire', current?.kid ?? '', '--compromised')
    expect(stateOf(gone, current?.kid)).toBeUndefined()
    expect(await keysCommand(file, 'retire', 'nothing')).toMatchObject({
      code: 1,
      err: expect.stringContaining('grantry: keys: there is no key with this kid'),
    })
  })

  test('retire --compromised prints the setting that refuses the key after a backup is restored', async () => {
    const file = configuration()
    const [current] = await keysAfter(file, 'list')
    const kid = current?.kid ?? ''
    const backup = join(directory, `backup${count}`)
    cpSync(join(directory, `data${count}`), backup, { recursive: true })
    const { err } = await keysCommand(file, 'retire', kid, '--compromised')
    const [line = ''] = /"refused": \[.*\]/u.exec(err) ?? []
    rmSync(join(directory, `data${count}`), { recursive: true })
    cpSync(backup, join(directory, `data${count}`), { recursive: true })
    expect(stateOf(await keysAfter(file, 'list'), kid)).toBe('current')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"keys":{', `"keys":{${line},`))
    const keys = await keysAfter(file, 'list')
    expect(stateOf(keys, kid)).toBeUndefined()
    expect(keys.map(({ state }) => state)).toEqual(['current', 'next'])
    // The next line has both.
    const second = await keysCommand(file, 'retire', keys[0]?.kid ?? '', '--compromised')
    expect(second.err).toContain(`"refused": ${JSON.stringify([kid, keys[0]?.kid])}`)
  })

  test('seal encrypts unencrypted keys once, and no other command does', async () => {
    const file = configuration({ keys: {} })
    const before = await keysAfter(file, 'list')
    expect(await keysCommand(file, 'seal')).toMatchObject({
      code: 1,
      err: `grantry: ${file}: keys.encryptionSecret is missing; set it, then run this command\n`,
    })
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('"keys":{}', `"keys":${JSON.stringify({ encryptionSecret })}`))
    expect(await keysCommand(file, 'list')).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^grantry: [^\n]*the stored key ring is not encrypted[^\n]* "grantry keys seal" once[^\n]*\n$/u,
      ),
    })
    expect(stateOf(await keysAfter(file, 'seal'), before[0]?.kid)).toBe('current')
    expect(stateOf(await keysAfter(file, 'list'), before[0]?.kid)).toBe('current')
    expect(await keysCommand(file, 'seal')).toMatchObject({
      code: 1,
      err: `grantry: ${file}: keys: the stored key ring is already encrypted; nothing was changed\n`,
    })
  })

  test.each([
    ['memory', { storage: { driver: 'memory' } }, 'storage.driver is memory, which only the server'],
    ['an unusable storage', { storage: { driver: 'filesystem', directory: '/dev/null/x' } }, 'storage: '],
    ['a short secret', { keys: { encryptionSecret: 'short' } }, 'keys.encryptionSecret must be at least 32 characters'],
    ['too short a rotation interval', { keys: { rotateAfter: 60 } }, 'keys.rotateAfter must be at least 600 seconds'],
    [
      'two conflicting settings',
      { keys: { algorithm: 'ES256', algorithms: ['RS256'] } },
      'keys must have either algorithm or algorithms, not both',
    ],
    ['an invalid refused key', { keys: { refused: ['kid'] } }, 'keys.refused[0] must be a key id'],
    [
      'a file and a rotation',
      { keys: { jwks: './keys.json', rotateAfter: 6000 } },
      'keys must not have other settings next to jwks',
    ],
  ])('%s is reported in one line', async (_what, more, sentence) => {
    const file = configuration(more)
    const { code, out, err } = await keysCommand(file, 'list')
    expect(code).toBe(1)
    expect(err).toContain(`grantry: ${file}: ${sentence}`)
    expect(err.trim().split('\n')).toHaveLength(1)
    expect(out).toBe('')
  })

  test('a wrong encryption secret is reported in one line without the secrets', async () => {
    const file = configuration()
    await keysAfter(file, 'list')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(encryptionSecret, 'another-secret-of-thirty-two-chars'))
    expect(await keysCommand(file, 'list')).toEqual({
      code: 1,
      out: '',
      err: `grantry: ${file}: keys: the stored key ring was encrypted with another encryptionSecret; set that one\n`,
    })
  })

  test('keys from a file are listed but not rotated', async () => {
    const jwk = await exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)
    writeFileSync(join(directory, 'keys.json'), JSON.stringify({ keys: [{ ...jwk, kid: 'mine' }] }))
    const file = configuration({ keys: { jwks: './keys.json' } })
    expect(await keysAfter(file, 'list')).toMatchObject([{ kid: 'mine', state: 'current' }])
    expect(await keysCommand(file, 'rotate')).toMatchObject({
      code: 1,
      err: expect.stringContaining('keys: the keys are set in the configuration; change them there'),
    })
  })

  test.each([[['keys']], [['keys', 'retire']], [['keys', 'list', '--forse']], [['keys', 'turn']]])(
    'wrong usage %j exits with 2',
    async (line) => {
      expect((await printed(...line)).code).toBe(2)
    },
  )

  test('stored keys are readable by their owner only', async () => {
    const file = configuration()
    await keysAfter(file, 'list')
    expect(statSync(join(directory, `data${count}`)).mode & 0o077).toBe(0)
  })
})
