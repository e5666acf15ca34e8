// What administrators change is declared once: the API, the commands, the console and the audit trail have the same kinds.
import { readFileSync } from 'node:fs'
import { auditKinds, type Kind, kinds, openAdministration } from '@grantry/administration'
import { openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { startAdministrationServer } from '../console/open-administration.ts'
import { printed } from '../server/printed.ts'

const everyKind = Object.entries(kinds).map(([name, kind]) => [name, kind as unknown as Kind] as const)

test('the audit trail can be read for each kind, and for keys', async () => {
  expect(auditKinds).toEqual(['client', 'scope', 'user', 'tenant', 'key'])
  const { out } = await printed('audit', '--help')
  for (const [, { list }] of everyKind) expect(out).toContain(list)
})

test.each(everyKind)('%s has operations in the API, with a rotation if it has secrets', async (_, kind) => {
  const { server, send } = await startAdministrationServer({ plugins: [{ name: 'admin', clients: ['ops'] }] })
  try {
    const { paths } = await send('GET', '/openapi.json')
    const methodsOf = (path: string) => Object.keys((paths as Record<string, object>)[`/v1/${kind.list}${path}`] ?? {})
    expect(methodsOf('')).toEqual(['get', 'post'])
    expect(methodsOf('/{id}')).toEqual(['get', 'patch', 'delete'])
    expect(methodsOf('/{id}/rotate-secret')).toEqual(kind.rotation === undefined ? [] : ['post'])
  } finally {
    await server.close(0)
  }
})

test.each(everyKind)('%s has a group of commands, which shows the version that a change names', async (_, { list }) => {
  const { out } = await printed(list, 'edit', '--help')
  expect(out.replaceAll(/\s+/gu, ' ')).toContain(`as shown by grantry ${list} show`)
  expect((await printed(list, '--help')).out).toMatch(/^ {2}list /mu)
})

test.each(everyKind)('the console calls %s and its members the same', (_, { type, list, title }) => {
  const page = readFileSync(new URL(`../../packages/console/src/page/${list}.js`, import.meta.url), 'utf8')
  const named = {
    segment: list,
    title: `${title}s`,
    noun: type.noun,
    idMember: type.idMember,
    switchMember: type.switch,
  }
  for (const [name, value] of Object.entries(named)) expect(page).toContain(`  ${name}: '${value}',`)
})

test('an administrator has one manager of each kind, which is created when it is used', () => {
  const read: string[] = []
  const check = new Proxy({} as Parameters<typeof openAdministration>[0]['check'], {
    get(_, name) {
      read.push(String(name))
      return async () => {}
    },
  })
  const administration = openAdministration({
    entries: openEntries({ issuer: 'https://id.example.com', storage: memoryDriver() }),
    check,
    hashPassword: async () => '',
    revoke: async () => {},
  })
  const managers = administration.as({ who: 'alice' })
  expect(read).toEqual([])
  expect(managers.clients).toBe(managers.clients)
  expect(read).toEqual(['client'])
})
