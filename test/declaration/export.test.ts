// `grantry export`: a file that `grantry plan` finds nothing to do for, without secrets.
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256Of } from '@grantry/testing'
import { expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { foreignHashes } from '../users/hash-vectors.ts'
import { machine, newService } from './setting.ts'

const directory = sharedDirectory('export')

const hash = foreignHashes['bcrypt $2b$']

const content = {
  scopes: [
    { name: 'billing', claims: ['role'], secrets: [{ sha256: sha256Of('billing') }] },
    { name: 'reports', tags: ['internal'] },
  ],
  clients: [
    machine('batch', { scopes: ['billing', 'api1'], secrets: [{ sha256: sha256Of('batch') }], tags: ['nightly'] }),
    {
      clientId: 'web',
      public: true,
      grantTypes: ['authorization_code'],
      scopes: ['api1'],
      redirectUris: ['https://a.example.com/'],
    },
  ],
  users: [{ sub: 'u1', username: 'alice', password: hash, claims: { name: 'Alice' } }],
}
const nothing = 'Nothing to do: 0 to add, 0 to change, 0 to remove, 5 unchanged.\n'

test('an export has no hashes, and a plan of it has nothing to do', async () => {
  const { out, write } = newService(directory)
  await out('apply', write(content), '--yes')
  const exported = await out('export')
  expect(JSON.parse(exported)).toEqual({
    scopes: [
      { name: 'billing', claims: ['role'] },
      { name: 'reports', tags: ['internal'] },
    ],
    clients: [
      machine('batch', { scopes: ['billing', 'api1'], tags: ['nightly'] }),
      {
        clientId: 'web',
        public: true,
        grantTypes: ['authorization_code'],
        scopes: ['api1'],
        redirectUris: ['https://a.example.com/'],
      },
    ],
    users: [{ sub: 'u1', username: 'alice', claims: { name: 'Alice' } }],
  })
  expect(exported).not.toContain(sha256Of('batch'))
  expect(exported).not.toContain('$2b$')
  expect(await out('plan', write(exported), '--prune')).toBe(nothing)
})

test('with hashes, it copies everything to another storage', async () => {
  const [source, target] = [newService(directory), newService(directory)]
  await source.out('apply', source.write(content), '--yes')
  const file = join(directory, 'copy.json')
  await source.out('export', '--with-hashes', '--out', file)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await target.out('apply', file, '--yes')).not.toContain('secret of')
  expect(await target.out('plan', file, '--prune')).toBe(nothing)
  expect(await target.out('export', '--with-hashes')).toBe(readFileSync(file, 'utf8'))
})

test('an empty storage has empty lists', async () => {
  const { json, out } = newService(directory)
  expect(JSON.parse(await out('export'))).toEqual({ scopes: [], clients: [], users: [] })
  expect(await json('clients', 'list')).toEqual([])
})

test('pages follow each other', async () => {
  const { out, write } = newService(directory)
  const clients = Array.from({ length: 450 }, (_, index) =>
    machine(`c${1000 + index}`, { secrets: [{ sha256: sha256Of('x') }] }),
  )
  await out('apply', write({ clients }), '--yes')
  expect(JSON.parse(await out('export')).clients).toHaveLength(450)
  expect(await out('plan', write({ clients }), '--prune')).toContain('450 unchanged')
})

test('an existing file, or a link, is not changed', async () => {
  const { run } = newService(directory)
  const [file, link] = [join(directory, 'mine.json'), join(directory, 'link.json')]
  writeFileSync(file, 'mine')
  symlinkSync(file, link)
  for (const path of [file, link]) {
    const refusal = `grantry: ${path} already exists and was not changed; choose another file, or delete it first\n`
    expect(await run('export', '--out', path)).toMatchObject({ code: 1, err: refusal })
  }
  expect(readFileSync(file, 'utf8')).toBe('mine')
})

test('a text that looks like a variable stays a text', async () => {
  const { out, write } = newService(directory)
  const scopes = [{ name: 'home', audience: `$\${HOME} and $$\${HOME}` }]
  await out('apply', write({ scopes }), '--yes')
  const exported = await out('export')
  expect(JSON.parse(exported).scopes).toEqual(scopes)
  expect(await out('plan', write(exported))).toContain('Nothing to do')
})
