import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import type {
  AccessTokenRecord,
  GrantRecord,
  ReplayRecord,
  SpentRecord,
} from '../../packages/core/src/records/schemas.ts'
import { api1, fixture, web } from '../support/fixture.ts'

type Value = Record<string, unknown>
/** Values that a member cannot have. The type requires every member of a record, also those that are added later. */
type Wrong<Record> = { readonly [Name in keyof Required<Record>]: readonly unknown[] }

const notText = [7, null]
const notNumber = ['7', null]
const notObject = ['text', [], null]
const subject = { sub: '1', amr: ['pwd'], authTime: 1, idp: 'local' }

const wrongGrant: Wrong<GrantRecord> = {
  kind: notText,
  issuer: notText,
  clientId: notText,
  grantType: notText,
  subject: [
    'text',
    null,
    ...['sub', 'amr', 'authTime', 'idp'].map((name) => ({ ...subject, [name]: undefined })),
    { ...subject, sub: 7 },
    { ...subject, amr: [7] },
    { ...subject, amr: 'pwd' },
    { ...subject, authTime: '1' },
    { ...subject, idp: 7 },
    { ...subject, acr: null },
  ],
  scopes: ['api1', [7], null],
  family: notText,
  familyStartedAt: notNumber,
  generation: notNumber,
  redeemableUntil: notNumber,
  keptUntil: notNumber,
  claims: notObject,
  act: notObject,
  cnf: [...notObject, { jkt: 7 }],
  redirectUri: notText,
  nonce: notText,
  identityClaims: notObject,
  requestedClaims: ['text', null, { userinfo: 'name' }, { identityToken: [7] }],
  demands: notObject,
  audience: ['api', [7], null],
  epochs: ['text', null, { client: 7 }, { subject: null }],
  revision: notText,
}
const optionalOfGrant: readonly string[] = [
  'claims',
  'act',
  'cnf',
  'redirectUri',
  'nonce',
  'identityClaims',
  'requestedClaims',
  'demands',
  'audience',
  'epochs',
  'revision',
]

const wrongSpent: Wrong<SpentRecord> = {
  spentAt: notNumber,
  attempt: notText,
  ended: [false, 1, null],
}

const wrongReplay: Wrong<ReplayRecord> = { nonce: notText, secret: notText, request: notText }

const wrongAccess: Wrong<AccessTokenRecord> = { claims: notObject, revision: notText }

/** Each wrong value of each member, and the member missing unless it is optional. */
const changes = (wrong: Readonly<Record<string, readonly unknown[]>>, optional: readonly string[] = []) =>
  Object.entries(wrong).flatMap(([member, values]) =>
    [...values, ...(optional.includes(member) ? [] : [undefined])].map((value) => ({ [member]: value })),
  )

async function open() {
  const items = new Map<string, string>()
  const f = await fixture({ storage: mapDriver(items) })
  const login = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1 offline_access' }
  const { body } = await f.post('token', login, web)
  const refresh = () => f.post('token', { grant_type: 'refresh_token', refresh_token: body.refresh_token }, web)
  const introspect = () => f.post('introspection', { token: body.access_token }, api1)

  /** Runs an action while the record of this kind is changed, and restores it. */
  async function whileChanged<T>(kind: string, change: (value: Value) => unknown, act: () => Promise<T>) {
    const item = [...items].find(([key]) => key.startsWith(`${kind}:`))
    if (item === undefined) throw new Error(`There is no record of the kind ${kind}`)
    const [key, stored] = item
    const envelope = JSON.parse(stored) as { readonly value: Value }
    items.set(key, JSON.stringify({ ...envelope, value: change(envelope.value) }))
    const from = f.events.length
    const outcome = await act()
    items.set(key, stored)
    const rejected = f.events
      .slice(from)
      .flatMap((event) => (event.type === 'record_rejected' ? [[event.kind, event.reason]] : []))
    return { outcome, rejected }
  }
  return { refresh, introspect, whileChanged }
}

describe('a member of the wrong type makes the record malformed:', () => {
  test('the record of a refresh token counts as absent', async () => {
    const { refresh, whileChanged } = await open()
    const others: readonly unknown[] = ['text', null]
    for (const change of changes(wrongGrant, optionalOfGrant)) {
      const { outcome, rejected } = await whileChanged('refresh', (value) => ({ ...value, ...change }), refresh)
      expect([change, outcome.body.error, rejected]).toEqual([
        change,
        'invalid_grant',
        [['refresh', 'record_malformed']],
      ])
    }
    for (const malformed of others) {
      const { rejected } = await whileChanged('refresh', () => malformed, refresh)
      expect([malformed, rejected]).toEqual([malformed, [['refresh', 'record_malformed']]])
    }
    expect((await refresh()).status).toBe(200)
  })

  test('the record of a reference token counts as absent', async () => {
    const { introspect, whileChanged } = await open()
    for (const change of changes(wrongAccess, ['revision'])) {
      const { outcome, rejected } = await whileChanged('access', (value) => ({ ...value, ...change }), introspect)
      expect([change, outcome.body, rejected]).toEqual([change, { active: false }, [['access', 'record_malformed']]])
    }
    expect((await introspect()).body.active).toBe(true)
  })

  test('the marker of a spent token counts as present, and the request is not a retry', async () => {
    for (const change of changes(wrongSpent, ['ended'])) {
      const { refresh, whileChanged } = await open()
      await refresh()
      const { outcome, rejected } = await whileChanged('spent', (value) => ({ ...value, ...change }), refresh)
      expect([change, outcome.body.error, rejected]).toEqual([change, 'invalid_grant', [['spent', 'record_malformed']]])
    }
  })

  test('the record for a retry counts as absent', async () => {
    for (const change of changes(wrongReplay, ['secret'])) {
      const { refresh, whileChanged } = await open()
      await refresh()
      const { outcome, rejected } = await whileChanged('replay', (value) => ({ ...value, ...change }), refresh)
      expect([change, outcome.body.error, rejected]).toEqual([
        change,
        'invalid_grant',
        [['replay', 'record_malformed']],
      ])
    }
  })
})

test('unknown members, which a later release may add, are ignored', async () => {
  const { refresh, introspect, whileChanged } = await open()
  const added = { addedLater: true }
  const token = await whileChanged('access', (value) => ({ ...value, ...added }), introspect)
  expect([token.outcome.body.active, token.rejected]).toEqual([true, []])
  const grant = await whileChanged(
    'refresh',
    (value) => ({ ...value, ...added, subject: { ...(value.subject as Value), ...added } }),
    refresh,
  )
  expect([grant.outcome.status, grant.rejected]).toEqual([200, []])
  const retry = await whileChanged('spent', (value) => ({ ...value, ...added }), refresh)
  expect([retry.outcome.body, retry.rejected]).toEqual([grant.outcome.body, []])
})
