/**
 * Attack: a user is disabled in the table of the host, and a thief sends requests with a token of the user at the same moment.
 * Requests share statements: one that began after the disabling could get the answer of a statement that was sent before, or
 * what an earlier request has read.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadEngine } from '@grantry/storage-drivers/clients'
import { sqlUsers } from '@grantry/users/sql'
import { expect, onTestFinished, test } from 'vitest'
import { createSharedReads, type Query } from '../../packages/users/src/sql/shared-reads.ts'
import type { TextRow } from '../../packages/users/src/sql/sql-client.ts'
import { api1, fixture, web } from '../support/fixture.ts'

const statement = { oneRow: 'one', manyRows: 'many' }

/** A database behind a slow network with a pool: it reads its rows when a statement arrives, and responds later. */
function slowDatabase() {
  const state = new Map([
    ['alice', 't'],
    ['bob', 't'],
  ])
  const sent: { readonly query: Query; respond(error?: Error): void }[] = []
  const waiting: (() => void)[] = []
  let hasConnection = true
  const subsOf = ({ text, values: [first = ''] }: Query): readonly string[] =>
    text === 'one' ? [first] : [...first.matchAll(/"([^"]*)"/gu)].map(([, sub = '']) => sub)
  const read = (begin: () => Query): Promise<readonly TextRow[]> =>
    new Promise((resolve, reject) => {
      const send = (): void => {
        const query = begin()
        const rows = subsOf(query).flatMap((sub) => (state.has(sub) ? [[sub, state.get(sub) ?? null]] : []))
        sent.push({ query, respond: (error) => (error === undefined ? resolve(rows) : reject(error)) })
      }
      if (hasConnection) send()
      else waiting.push(send)
    })
  const rowsOf = createSharedReads(read)
  return {
    sent,
    isActive: async (sub: string) => (await rowsOf(statement, sub))[0]?.[1] === 't',
    disable: (sub: string) => state.set(sub, 'f'),
    takeConnections() {
      hasConnection = false
    },
    returnConnections() {
      hasConnection = true
      for (const send of waiting.splice(0)) send()
    },
    respond() {
      for (const { respond } of sent.splice(0)) respond()
    },
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('a request that began after the disabling does not get the answer of a statement that was sent before', async () => {
  const database = slowDatabase()
  const before = Promise.all(['alice', 'bob'].map(database.isActive))
  await nextTurn()
  database.disable('alice')
  const after = Promise.all(['alice', 'bob', 'alice'].map(database.isActive))
  await nextTurn()
  expect(database.sent).toHaveLength(2)
  database.respond()
  expect(await before).toEqual([true, true])
  expect(await after).toEqual([false, true, false])
})

test('a statement that waits for a connection takes the requests until it is sent, and reads their present state', async () => {
  const database = slowDatabase()
  database.takeConnections()
  const before = database.isActive('alice')
  await nextTurn()
  database.disable('alice')
  const after = database.isActive('alice')
  database.returnConnections()
  const later = database.isActive('alice')
  await nextTurn()
  expect(database.sent).toHaveLength(2)
  database.respond()
  expect(await Promise.all([before, after, later])).toEqual([false, false, false])
})

test('a value that fails a shared statement refuses no other user, and the repetition reads the present state', async () => {
  const database = slowDatabase()
  const answers = Promise.all(['alice', 'bob', 'no uuid'].map(database.isActive))
  await nextTurn()
  database.disable('alice')
  for (const { respond } of database.sent.splice(0)) respond(Object.assign(new Error('malformed'), { code: '22P02' }))
  await nextTurn()
  expect(database.sent.map(({ query }) => query.values)).toEqual([['alice'], ['bob'], ['no uuid']])
  database.respond()
  expect(await answers).toEqual([false, true, false])
})

test('what a request has read of its user serves no other request', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-users-'))
  const file = join(directory, 'app.db')
  const connection = loadEngine()(file)
  connection.run('CREATE TABLE users (id TEXT PRIMARY KEY, name TEXT UNIQUE COLLATE NOCASE, hash TEXT, active BOOLEAN)')
  connection.run("INSERT INTO users VALUES ('1', 'Alice', NULL, true)")
  const columns = { sub: 'id', username: 'name', password: 'hash', active: 'active', claims: { name: 'name' } }
  const users = sqlUsers({ file, table: 'users', columns })
  onTestFinished(async () => {
    await users.close()
    connection.close()
    rmSync(directory, { recursive: true })
  })
  const f = await fixture({ users })
  const redeem = async () => {
    const code = await f.code()
    const form = { grant_type: 'authorization_code', code, redirect_uri: 'https://web.example.com/callback' }
    return f.post('token', form, web)
  }
  const { body } = await redeem()
  const [code, userinfo, introspection, refresh] = [
    () => redeem(),
    () => f.get('userinfo', {}, { authorization: `Bearer ${body.access_token}` }),
    () => f.post('introspection', { token: body.access_token }, api1),
    () => f.post('token', { grant_type: 'refresh_token', refresh_token: body.refresh_token }, web),
  ]
  expect((await userinfo()).body.name).toBe('Alice')
  connection.run("UPDATE users SET name = 'Alice Smith'")
  expect((await userinfo()).body.name).toBe('Alice Smith')
  connection.run('UPDATE users SET active = false')
  expect((await userinfo()).status).toBe(401)
  expect((await introspection()).body).toEqual({ active: false })
  expect([(await code()).status, (await refresh()).status]).toEqual([400, 400])
})
