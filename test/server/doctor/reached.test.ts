// What `grantry check` says of the servers of others, and of clients in the storage.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { runRules } from '../../../packages/server/src/check-rules/rule.ts'
import { pluginRules } from '../../../packages/server/src/doctor/check-plugins.ts'
import { storageRules } from '../../../packages/server/src/doctor/check-storage.ts'
import type { Facts } from '../../../packages/server/src/doctor/facts.ts'
import { problemOfMail, problemsOfProviders } from '../../../packages/server/src/doctor/reached.ts'
import { startSmtpServer } from '../../support/smtp-server.ts'
import { printed } from '../printed.ts'
import { healthy, written } from './configurations.ts'

const idsOf = (findings: readonly { readonly id: string }[]): readonly string[] => findings.map(({ id }) => id)

const mail = (url: string) => ({ url, from: 'id@example.com', timeout: 5 })

test('a mail server that is dead is found, and one that responds is not', async () => {
  const { url, close } = await startSmtpServer()
  expect(await problemOfMail({ mail: mail(url) })).toBeUndefined()
  await close()
  expect(await problemOfMail({ mail: mail(url) })).toMatch(/^The mail server has not accepted a mail \(.*ECONNREFUSED/u)
  const { out } = await printed('check', '--json', '--config', written({ ...healthy, mail: { ...mail(url) } }).file)
  expect(idsOf(JSON.parse(out).findings)).toContain('mail-unusable')
})

test('a provider that is dead, or has no metadata, is found', async () => {
  let status = 200
  const server = createServer((_, response) => response.writeHead(status).end('{}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const plugins = [{ name: 'sign-in', providers: [{ name: 'acme', issuer, clientId: 'x' }] }]
  const problems = () => problemsOfProviders({ plugins } as Parameters<typeof problemsOfProviders>[0])
  expect(await problems()).toEqual([])
  status = 404
  const where = 'plugins[0].providers[0].issuer'
  expect(await problems()).toEqual([{ where, reason: expect.stringMatching(/openid-configuration returns 404$/u) }])
  const unreachable = await problems()
  expect(idsOf(runRules(pluginRules, facts({ configuration: {}, unreachable })))).toEqual(['upstream-unreachable'])
  await new Promise((resolve) => server.close(resolve))
  expect(await problems()).toEqual([{ where, reason: expect.stringContaining('cannot be reached: ') }])
})

const facts = (more: object) =>
  ({
    clients: [],
    storedClients: [],
    hasExternalClients: false,
    warnings: [],
    unreachable: [],
    scopes: [],
    store: { reachable: true, driver: {} },
    ...more,
  }) as unknown as Facts

const acme = { name: 'acme', issuer: 'https://idp.acme.example', clientId: 'grantry', clientSecret: 'secret' }
const configuration = { issuer: 'https://id.example.com', plugins: [{ name: 'sign-in', providers: [acme] }] }
const warnings = [{ reason: 'plugin:authorization-endpoint:password_without_second_factor', message: 'x' }]
const web = { enabled: true, grantTypes: ['authorization_code'], identityProviders: [] }

test('a client in the storage uses a provider: the warning ends with apply', () => {
  expect(idsOf(runRules(pluginRules, facts({ configuration })))).toContain('upstream-unused')
  expect(idsOf(runRules(pluginRules, facts({ configuration, storedClients: [web] })))).not.toContain('upstream-unused')
})

test('the password grant is a problem of second factors only if a client has it', () => {
  expect(idsOf(runRules(pluginRules, facts({ configuration: {}, warnings, clients: [web] })))).toEqual([])
  const password = { ...web, grantTypes: ['password'] }
  for (const more of [{ clients: [password] }, { storedClients: [password] }, { hasExternalClients: true }]) {
    expect(idsOf(runRules(pluginRules, facts({ configuration: {}, warnings, ...more })))).toEqual([
      'second-factor-skipped',
    ])
  }
  const disabled = { ...password, enabled: false }
  expect(idsOf(runRules(pluginRules, facts({ configuration: {}, warnings, clients: [disabled] })))).toEqual([])
})

test.each<[object, boolean]>([
  [{ driver: 'postgresql', url: 'postgresql://a:b@db.example.com/x' }, true],
  [{ driver: 'postgresql', url: 'postgresql://a:b@db.example.com/x?sslmode=disable' }, true],
  [{ driver: 'postgresql', url: 'postgresql://a:b@db.example.com/x?sslmode=verify-full' }, false],
  [{ driver: 'postgresql', url: 'postgresql://a:b@db.example.com/x', ca: 'ca.pem' }, false],
  [{ driver: 'postgresql', url: 'postgresql://a:b@127.0.0.1/x' }, false],
  [{ driver: 'postgresql', url: 'postgresql://a:b@localhost/x?host=/run/postgresql' }, false],
  [{ driver: 'redis', url: 'redis://cache.example.com' }, true],
  [{ driver: 'redis', url: 'rediss://cache.example.com' }, false],
  [{ driver: 'redis', url: 'redis://localhost:6379' }, false],
  [{ driver: 'redis', cluster: ['redis://127.0.0.1:1', 'redis://cache.example.com:1'] }, true],
  [{ driver: 'redis', sentinels: [{ host: 'cache.example.com', port: 26_379 }], waitReplicas: 1 }, true],
  [{ driver: 'sqlite' }, false],
])('%j is a storage in plain text: %s', (storage, isFound) => {
  const findings = runRules(storageRules, facts({ configuration: { issuer: 'https://id.example.com', storage } }))
  expect(idsOf(findings).includes('store-unencrypted')).toBe(isFound)
  expect(JSON.stringify(findings)).not.toContain('a:b')
})
