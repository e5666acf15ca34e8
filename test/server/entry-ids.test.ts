// A configuration can have hundreds of clients. A message about one of them has its id, too: an operator cannot count them.
import { expect, test } from 'vitest'
import { withEntryIds } from '../../packages/server/src/error-message.ts'
import { client, healthy, written } from './doctor/configurations.ts'
import { printed } from './printed.ts'

const valid = { ...healthy, issuer: 'http://127.0.0.1:8484', storage: { driver: 'memory' } }
const good = { ...client, clientId: 'good' }
const bad = { redirectUris: ['x'] }
const tenants = { by: 'path' }

test.each<[what: string, configuration: object, start: string]>([
  ['client', { ...valid, clients: [good, { ...client, ...bad }] }, 'clients[1] ("web"): redirectUris[0] must be'],
  ['scope', { ...valid, scopes: [{ name: 'api9', audience: '' }] }, 'scopes[0] ("api9"): audience must'],
  [
    'user',
    { ...valid, users: [{ sub: 'u7', username: 'ann', password: 'x' }] },
    'users[0] ("u7").password must be a hash',
  ],
  [
    'tenant',
    { ...valid, tenants: { ...tenants, list: [{ name: 'acme', x: 1 }] } },
    'tenants.list[0] ("acme").x is not',
  ],
  [
    'provider',
    { ...valid, plugins: [{ name: 'sign-in', providers: [{ name: 'work', preset: 'google', clientId: 'c', x: 1 }] }] },
    'plugins[0] ("sign-in").providers[0] ("work").x is not',
  ],
])('a message about a %s has its id, where the server starts and in a check', async (_, configuration, start) => {
  const { file } = written(configuration)
  const served = await printed('serve', '--port', '0', '--config', file)
  expect(served.err).toContain(`grantry: ${file}: ${start}`)
  const checked = await printed('check', '--config', file)
  expect(checked.out).toContain(start)
})

test.each([
  ['a line break', 'web\nclient_added'],
  ['a quote', 'web"): ok ("'],
  ['a number', 5],
  ['none', undefined],
])('an id that could be no id is not in a message: %s', (_, clientId) => {
  const message = 'clients[0].tag must be a string'
  expect(withEntryIds(message, { clients: [{ clientId }] })).toBe(message)
  expect(withEntryIds(message, undefined)).toBe(message)
})

test('a client of a tenant', () => {
  const configuration = { tenants: { list: [{ name: 'acme' }] } }
  expect(withEntryIds('tenants.list[0]: clients[0] ("web"): x', configuration)).toBe(
    'tenants.list[0] ("acme"): clients[0] ("web"): x',
  )
})

test('the id that the core has written is not written again', () => {
  const message = 'clients[0] ("web"): tag must be a string'
  expect(withEntryIds(message, { clients: [{ clientId: 'web' }] })).toBe(message)
})
