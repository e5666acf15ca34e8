// Wrong files: one sentence with the path of the member, no secret in it, and nothing written.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Of } from '@grantry/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { machine, newService } from './setting.ts'

const directory = sharedDirectory('wrong-declaration')
afterEach(() => void vi.unstubAllEnvs())

const plain = 'Zx9-plain-secret'

describe('a file is refused with one sentence, and nothing is written', () => {
  const static_ = machine('static', { secrets: [{ sha256: sha256Of('static') }] })
  const { run, json, write } = newService(directory, { clients: [static_] })
  const cases: readonly (readonly [content: unknown, sentence: string])[] = [
    ['{ "clients": [', ': line 1, column 15: a closing bracket ] is missing'],
    [[], ' must be an object such as { "clients": [] }, not an array'],
    [{ client: [] }, ': client is not a known list; did you mean clients?'],
    [{ clients: {} }, ': clients must be an array'],
    [{ clients: ['batch'] }, ': clients[0] must be an object such as { "clientId": "..." }'],
    [{ clients: [{}] }, ': clients[0].clientId is required'],
    [{ clients: [machine('a', { tags: 'x' })] }, ': clients[0].tags must be an array of strings'],
    [{ clients: [machine('a'), machine('b'), machine('a')] }, ': clients[2]: the client a is declared in '],
    [
      { clients: [machine('a', { acessTokenLifetime: 1 })] },
      'clients[0] ("a"): acessTokenLifetime is not a known option',
    ],
    [
      { clients: [machine('a'), machine('b', { redirectUris: ['x'] })] },
      ': clients[1] ("b"): redirectUris[0] must be an',
    ],
    [{ clients: [machine('static')] }, ': clients[0]: the client static is in clients of '],
    [{ scopes: [{ name: 'api1' }] }, ': scopes[0]: the scope api1 is in scopes of '],
    [{ clients: [machine('a', { secrets: [{ value: plain }] })] }, ': clients[0].secrets[0].value must be a variable'],
    [{ clients: [machine('a', { secrets: [{ value: `x\${HOME}` }] })] }, ': clients[0].secrets[0].value must be a var'],
    [
      { clients: [machine('a', { secrets: [{ value: `\${P_UNSET}` }] })] },
      ': clients[0].secrets[0].value needs the env',
    ],
    [{ clients: [machine('a', { secrets: [{ file: '/nowhere' }] })] }, ': clients[0].secrets[0]: cannot read the sec'],
    [
      { clients: [machine('a', { secrets: [{ file: '/dev/zero' }] })] },
      'cannot read the secret in /dev/zero (it is not',
    ],
    [{ clients: [machine('a', { secrets: [{ file: '.', value: `\${HOME}` }] })] }, 'has both value and file; keep one'],
    [{ clients: [machine('a', { secrets: [{ sha256: 'x', value: `\${HOME}` }] })] }, 'has both a hash and a reference'],
    [{ clients: [machine('a', { secrets: [plain] })] }, 'clients[0] ("a"): secrets[0] must be an object'],
    [{ clients: [machine('a', { secret: plain })] }, 'secret is not a known option; did you mean secrets'],
    [{ clients: [machine('caf\u00e9')] }, 'clients[0]: clientId must be 1 to 100 printable ASCII characters'],
  ]
  test.each(cases)('%j', async (content, sentence) => {
    const file = write(content)
    for (const line of [
      ['plan', file],
      ['apply', file, '--yes'],
    ]) {
      const { code, out, err } = await run(...line)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err).toMatch(/^grantry: .+\n$/u)
      expect(err).toContain(sentence)
      expect(err).not.toContain(plain)
    }
    expect(await json('clients', 'list')).toEqual([])
  })

  test('all mistakes of a file are printed', async () => {
    const clients = [machine('a', { scopes: ['x'] }), machine('b', { scopes: ['y'] })]
    const { err } = await run('plan', write({ clients }))
    expect(err.trim().split('\n')).toEqual([
      expect.stringContaining('a has the scope x, which is not declared in scopes'),
      expect.stringContaining('b has the scope y, which is not declared in scopes'),
    ])
  })

  test('a missing file, an empty directory, and a storage that only the server has', async () => {
    const empty = join(directory, 'empty')
    mkdirSync(empty)
    expect((await run('plan', '/nowhere.json')).err).toBe('grantry: cannot read /nowhere.json (ENOENT)\n')
    expect((await run('plan', empty)).err).toContain('has no files with the endings .json and .jsonc')
    const memory = newService(directory, { storage: { driver: 'memory' } })
    const { err } = await memory.run('apply', write({}), '--yes')
    expect(err).toContain('storage.driver is memory, which only the server process can access')
    const off = newService(directory, { administration: false })
    expect((await off.run('export')).err).toContain('set "administration": true')
  })
})

describe('secrets of a file', () => {
  test('are variables and files, of which only the hashes are stored', async () => {
    vi.stubEnv('P_SECRET', 'from the environment')
    const { out, write } = newService(directory)
    writeFileSync(join(directory, 'secret.txt'), 'from a file\n')
    const secrets = [{ value: `\${P_SECRET}`, expiresAt: '2037-01-01T00:00:00Z' }, { file: './secret.txt' }]
    const file = write({ clients: [machine('a', { secrets })] })
    await out('apply', file, '--yes')
    expect(JSON.parse(await out('export', '--with-hashes')).clients[0].secrets).toEqual([
      { expiresAt: '2037-01-01T00:00:00Z', sha256: sha256Of('from the environment') },
      { sha256: sha256Of('from a file') },
    ])
    expect(await out('plan', file)).toContain('1 unchanged')
  })

  test('an empty list is no secret, for a client that has a key', async () => {
    const plugins = [{ name: 'client-assertion' }]
    const { out, json, write } = newService(directory, { plugins })
    const keyed = machine('a', { jwksUri: 'https://a.example.com/jwks', secrets: [] })
    expect(await out('apply', write({ clients: [keyed] }), '--yes')).not.toContain('secret of')
    expect(await json('clients', 'show', 'a')).toMatchObject({ secrets: [] })
  })
})
