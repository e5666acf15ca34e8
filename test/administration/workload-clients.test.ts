// Clients that authenticate by tokens of their platform are added to the storage without a secret, and checked as others.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printed } from '../server/printed.ts'
import { sharedDirectory } from '../support/directory.ts'
import { client, issuer, rules, setUp } from '../workload-identity/parties.ts'

const directory = sharedDirectory('workload-clients')

function service(name: string) {
  const file = join(directory, `${name}.json`)
  const storage = { driver: 'filesystem', directory: `./${name}`, fsync: false }
  const plugins = [{ name: 'workload-identity', issuers: [{ platform: 'github' }] }]
  const setting = { issuer, storage, administration: true, clients: [], scopes: [{ name: 'api1' }], plugins }
  writeFileSync(file, JSON.stringify(setting), { mode: 0o600 })
  return (...line: readonly string[]) => printed(...line, '--config', file)
}

const machine = ['--grant', 'client_credentials', '--scope', 'api1']

test('a client with a rule gets no secret', async () => {
  const run = service('added')
  const { code, out } = await run(
    'clients',
    'add',
    'release',
    ...machine,
    '--set',
    `workload=${JSON.stringify(rules.github)}`,
  )
  expect(code).toBe(0)
  expect(out).not.toMatch(/^secret/mu)
  const shown = JSON.parse((await run('clients', 'show', 'release', '--json')).out)
  expect(shown).toMatchObject({ workload: rules.github })
  expect(shown.secrets ?? []).toEqual([])
})

test('a rule that could match workloads of others is refused, and changes nothing', async () => {
  const run = service('refused')
  const open = JSON.stringify({ ...rules.github, claims: { repository: 'acme/*' } })
  const added = await run('clients', 'add', 'release', ...machine, '--set', `workload=${open}`)
  expect(added.code).toBe(1)
  expect(added.err).toContain('workload needs repository_id or repository_owner_id')
  expect((await run('clients', 'list', '--json')).out).not.toContain('release')
})

test('a file declares one, and needs no secret for it', async () => {
  const run = service('declared')
  const file = join(directory, 'declaration.json')
  const declared = { clientId: 'release', grantTypes: ['client_credentials'], scopes: ['api1'], workload: rules.github }
  writeFileSync(file, JSON.stringify({ clients: [declared] }))
  expect((await run('plan', file)).out).not.toContain('secrets')
  expect((await run('apply', file, '--yes')).code).toBe(0)
  expect((await run('plan', file)).out).toContain('Nothing to do')
})

test('a configured client with a rule and nothing else is complete', async () => {
  await expect(setUp({}, { clients: [client('one', rules.github)] })).resolves.toBeDefined()
})
