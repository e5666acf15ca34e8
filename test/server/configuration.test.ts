import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { main } from '../../packages/server/src/cli.ts'

const directory = mkdtempSync(join(tmpdir(), 'grantry-configuration-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const valid = {
  issuer: 'http://127.0.0.1:8484',
  storage: { driver: 'memory' },
  clients: [
    {
      clientId: 'web',
      secrets: [{ sha256: 'dh/tnbsiQnvtvHPD8KuT//QRBKp36xRQJdARO+jANaM=' }],
      grantTypes: ['client_credentials'],
      scopes: ['api1'],
    },
  ],
  scopes: [{ name: 'api1' }],
}

let count = 0
function file(content: unknown, extension = 'json'): string {
  count += 1
  const path = join(directory, `c${count}.${extension}`)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

describe('an error is one line with its path, and exit code 1', () => {
  let printed = ''
  beforeEach(() => {
    printed = ''
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      printed += String(text)
      return true
    })
  })
  afterEach(() => vi.restoreAllMocks())

  const start = async (content: unknown, extension?: string): Promise<number> =>
    main(['serve', '--log-format', 'text', '--port', '0', '--config', file(content, extension)])

  const user = { sub: '1', username: 'a', password: 'plain' }
  test.each([
    ['an unknown key', { ...valid, isuer: 'x' }, 'isuer is not a known option; did you mean issuer?'],
    [
      'an unknown key of a client',
      { ...valid, clients: [{ clientId: 'a', grantType: [] }] },
      'clients[0] ("a"): grantType is not a known option; did you mean grantTypes?',
    ],
    ['a missing key', { storage: { driver: 'memory' }, clients: [] }, 'issuer is required'],
    [
      'a mistyped switch',
      { ...valid, abuseControl: { enable: true } },
      'abuseControl.enable is not a known option; did you mean enabled?',
    ],
    [
      'a password that is not a hash',
      { ...valid, users: [user] },
      'users[0] ("1").password must be a hash like $argon2id$',
    ],
    [
      'a grant type that no plugin brings',
      { ...valid, clients: [{ ...valid.clients[0], grantTypes: ['urn:example:nothing'] }] },
      'web uses the grant type urn:example:nothing, which no plugin provides',
    ],
    [
      'a missing environment variable',
      { ...valid, issuer: '$' + '{GRANTRY_TEST_UNSET}' },
      'issuer needs the environment variable GRANTRY_TEST_UNSET, which is not set',
    ],
    ['a missing plugin', { ...valid, plugins: ['./nowhere.mjs'] }, 'plugins[0]: cannot load ./nowhere.mjs'],
    ['a missing key file', { ...valid, keys: { jwks: './nowhere.json' } }, 'nowhere.json: it cannot be read (ENOENT)'],
    [
      'an issuer with a slash at the end',
      { ...valid, issuer: 'http://127.0.0.1:8484/' },
      'issuer must not end with a slash',
    ],
  ])('%s', async (_, content, sentence) => {
    expect(await start(content)).toBe(1)
    expect(printed).toContain(sentence)
    expect(printed.trim().split('\n')).toHaveLength(1)
    expect(printed).toMatch(/^grantry: /u)
  })

  test.each(['ts', 'mjs'])('a plugin module (.%s) without a default export', async (extension) => {
    const module = file('export const badge = {}', extension)
    expect(await start({ ...valid, plugins: [module] })).toBe(1)
    expect(printed).toContain(
      `plugins[0]: cannot load ${module}: its default export is neither a plugin nor a function that returns one`,
    )
  })

  test('malformed JSON, with the line', async () => {
    expect(await start('{\n  "issuer": \n}')).toBe(1)
    expect(printed).toContain('line 3, column 1: a value is missing')
  })

  test('a missing file', async () => {
    expect(await main(['serve', '--log-format', 'text', '--config', join(directory, 'nothing.json')])).toBe(1)
    expect(printed).toContain('nothing.json: the file does not exist')
  })

  test('a port that is in use', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    expect(await main(['serve', '--log-format', 'text', '--port', String(port), '--config', file(valid)])).toBe(1)
    expect(printed).toContain(`port ${port} on 127.0.0.1 is in use`)
    taken.close()
  })

  test('the demo on a public address', async () => {
    const kept = process.cwd()
    process.chdir(directory)
    expect(await main(['serve', '--log-format', 'text', '--port', '0', '--host', '0.0.0.0'])).toBe(1)
    process.chdir(kept)
    expect(printed).toContain('the demo listens on loopback only')
  })

  test('a malformed JWK set with a private key, without quoting it', async () => {
    writeFileSync(join(directory, 'keys.json'), '{ "keys": [{ "d": "very-private" ')
    expect(await start({ ...valid, keys: { jwks: './keys.json' } })).toBe(1)
    expect(printed).toContain('it is not JSON')
    expect(printed).not.toContain('very-private')
  })

  test.each([[['serve', '--prot', '80']], [['srve']], [['serve', '--port', 'x']], [['serve', '--port', '65536']]])(
    'wrong usage %j exits with 2',
    async (commandLine) => {
      expect(await main(commandLine)).toBe(2)
      expect(printed).not.toBe('')
    },
  )
})
