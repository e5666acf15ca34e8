// An attacker chooses the content of a file that an administrator plans, applies or imports, or a name that one shows: member
// names that change prototypes, more data or nesting than memory allows, terminal control sequences in names, paths that are
// links, texts that refer to variables of the administrator.
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openSecretsFile } from '../../packages/server/src/declaration/secrets-file.ts'
import { printed } from '../server/printed.ts'
import { sharedDirectory } from '../support/directory.ts'
import { machine, newService } from './setting.ts'

const directory = sharedDirectory('hostile-declaration')
afterEach(() => void vi.unstubAllEnvs())

const path = (name: string): string => join(directory, name)
function write(name: string, content: string): string {
  writeFileSync(path(name), content)
  return path(name)
}

describe.each(['plan', 'import'] as const)('grantry %s', (command) => {
  const { file: configuration } = newService(directory)
  const run = (file: string) =>
    command === 'plan' ? printed('plan', file, '--config', configuration) : printed('import', 'hydra', file)

  test('refuses member names that set a prototype', async () => {
    const { code, err } = await run(write('proto.json', '[{ "client_id": "a", "__proto__": { "public": true } }]'))
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('"__proto__" is not allowed as a name') })
    expect(({} as { public?: unknown }).public).toBeUndefined()
  })

  test('takes names such as constructor as what they are', async () => {
    const { code, out, err } = await run(write('constructor.json', '[{ "client_id": "a", "constructor": { "x": 1 } }]'))
    if (command === 'plan') expect(code).toBe(1)
    else
      expect({ code, out, err }).toMatchObject({
        code: 0,
        err: expect.stringContaining('client a: constructor: has no'),
      })
  })

  test.each([
    ['arrays', '['],
    ['objects', '{"a":'],
  ])('refuses nested %s without a stack overflow', async (_, open) => {
    const { code, err } = await run(write('deep.json', open.repeat(1_000_000)))
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining('more than 100 arrays and objects are nested'),
    })
  })

  test('refuses a file of 100 MB, and a device without an end', async () => {
    truncateSync(write('large.json', ''), 100 * 1024 * 1024)
    for (const file of [path('large.json'), '/dev/zero']) {
      const { code, err } = await run(file)
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('has more than 64 MB') })
    }
  })

  test('refuses what is not UTF-8', async () => {
    writeFileSync(path('latin.json'), Buffer.from([0x5b, 0xff, 0x5d]))
    expect((await run(path('latin.json'))).err).toContain('is not UTF-8')
  })
})

describe('names with terminal control sequences', () => {
  const hostile = 'x\u001b[2J\u001b]0;title\u0007\u009b31m\u202eevil\r\nclient admin'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be printed.
  const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/u

  test('do not reach the terminal from a plan', async () => {
    const { run, write: declare } = newService(directory)
    const users = [{ sub: 'u1', username: 'alice', claims: { name: hostile } }]
    const { code, out } = await run('plan', declare({ users, scopes: [{ name: 'a', audience: hostile }] }))
    expect(code).toBe(0)
    expect(out).not.toMatch(control)
    expect(out).not.toMatch(/^client admin/mu)
  })

  test('do not reach the terminal from JSON, which keeps them', async () => {
    const { run, out: outOf, write: declare } = newService(directory)
    const users = [{ sub: 'u1', username: 'alice', claims: { name: `${hostile}\u{e0001}` }, tags: [hostile] }]
    const file = declare({ users })
    const lines = [
      ['plan', file, '--json'],
      ['apply', file, '--yes', '--json'],
      ['export'],
      ['users', 'show', 'alice', '--json'],
      ['users', 'list', '--json'],
      ['audit', '--json'],
    ]
    for (const line of lines) {
      const { code, out } = await run(...line)
      expect([line, code]).toEqual([line, 0])
      expect(out).not.toMatch(control)
      expect(out).not.toMatch(/\p{Cf}/u)
      expect(JSON.parse(out)).toBeDefined()
    }
    expect(JSON.parse(await outOf('export')).users).toEqual(users)
  })

  test('do not reach the terminal from a report', async () => {
    const exported = JSON.stringify([
      { client_id: hostile },
      { client_id: 'a', owner: 'x', [hostile]: 1, grant_types: [hostile] },
    ])
    const { code, out, err } = await printed('import', 'hydra', write('names.json', exported))
    expect(code).toBe(0)
    expect(err).not.toMatch(control)
    expect(err).not.toMatch(/^client admin/mu)
    expect(out).not.toMatch(control)
  })
})

test('an imported text does not become a secret of the administrator', async () => {
  vi.stubEnv('P_ADMIN_SECRET', 'secret-of-the-administrator')
  const { out, run } = newService(directory, { plugins: [{ name: 'sign-in' }] })
  const scope = `a\${P_ADMIN_SECRET}`
  const exported = [
    {
      client_id: 'a',
      client_secret: `\${P_ADMIN_SECRET}`,
      client_name: `x \${P_ADMIN_SECRET}`,
      scope,
      grant_types: ['client_credentials'],
    },
  ]
  const file = path('reference.json')
  await printed('import', 'hydra', write('references.json', JSON.stringify(exported)), '--out', file)
  await out('apply', file, '--yes')
  const shown = (await run('clients', 'show', 'a', '--json')).out
  expect(JSON.parse(shown)).toMatchObject({ clientName: `x \${P_ADMIN_SECRET}`, scopes: [scope] })
  expect(`${shown}${await out('export', '--with-hashes')}`).not.toContain('secret-of-the-administrator')
})

describe('files that a command writes', () => {
  const declared = { clients: [machine('a')] }

  test('--out and --report follow no link, and change no file', async () => {
    const victim = write('victim', 'untouched')
    symlinkSync(victim, path('link'))
    symlinkSync(path('nowhere'), path('dangling'))
    const exported = write('hydra.json', '[]')
    for (const target of [victim, path('link'), path('dangling')]) {
      for (const option of ['--out', '--report']) {
        expect((await printed('import', 'hydra', exported, option, target)).code).toBe(1)
      }
    }
    expect(readFileSync(victim, 'utf8')).toBe('untouched')
    expect(existsSync(path('nowhere'))).toBe(false)
  })

  test('--secrets-file follows no link, and writes to no file that others can read, before anything is changed', async () => {
    const { run, out, write: declare } = newService(directory)
    const mine = write('mine', '')
    chmodSync(mine, 0o600)
    symlinkSync(mine, path('linked'))
    linkSync(mine, path('hard'))
    const open = write('open', '')
    chmodSync(open, 0o644)
    mkdirSync(path('folder'), { mode: 0o700 })
    for (const target of [path('linked'), path('hard'), open, path('folder')]) {
      const { code, err } = await run('apply', declare(declared), '--yes', '--secrets-file', target)
      expect({ code, err }).toEqual({
        code: 1,
        err: expect.stringMatching(/^grantry: (?:cannot write to|\S+ is not a file)/u),
      })
    }
    expect(JSON.parse(await out('export')).clients).toEqual([])
    expect(readFileSync(mine, 'utf8')).toBe('')
  })

  test.each([0o640, 0o620, 0o610, 0o604, 0o602, 0o601, 0o660])(
    '--secrets-file writes to no file that its group or others can open (%o)',
    (mode) => {
      const file = write('shared', '')
      chmodSync(file, mode)
      expect(() => openSecretsFile(file)).toThrow('is not a file that only this user can read')
      chmodSync(file, 0o600)
      openSecretsFile(file).close()
    },
  )

  test('--secrets-file writes to no file of another user, who reads it', () => {
    const file = write('foreign', '')
    chmodSync(file, 0o600)
    const uid = process.getuid?.() ?? 0
    const user = vi.spyOn(process, 'getuid').mockReturnValue(uid + 1)
    onTestFinished(() => user.mockRestore())
    expect(() => openSecretsFile(file)).toThrow('is not a file that only this user can read')
  })
})
