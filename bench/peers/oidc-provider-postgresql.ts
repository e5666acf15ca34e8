// oidc-provider on `pg`, with one table for all models: named prepared statements, one statement for each call of the
// adapter, and an index for each look-up.
import pg from 'pg'
import { readSetting } from '../setting.ts'
import { serveOidcProvider } from './oidc-provider-server.ts'

const setting = readSetting()
const pool = new pg.Pool({ connectionString: setting.storeUrl, max: 10 })

await pool.query(`CREATE TABLE IF NOT EXISTS oidc_payloads (
  model text NOT NULL,
  id text NOT NULL,
  payload json NOT NULL,
  grant_id text,
  user_code text,
  uid text,
  expires_at timestamptz,
  consumed_at timestamptz,
  PRIMARY KEY (id, model)
);
CREATE INDEX IF NOT EXISTS oidc_payloads_grant_id ON oidc_payloads (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS oidc_payloads_user_code ON oidc_payloads (user_code) WHERE user_code IS NOT NULL;
CREATE INDEX IF NOT EXISTS oidc_payloads_uid ON oidc_payloads (uid) WHERE uid IS NOT NULL;
CREATE INDEX IF NOT EXISTS oidc_payloads_expires_at ON oidc_payloads (expires_at);`)

const findBy = (column: string): string => `SELECT payload, extract(epoch FROM consumed_at)::int AS consumed
  FROM oidc_payloads WHERE model = $1 AND ${column} = $2 AND (expires_at IS NULL OR expires_at > now())`

const statements = {
  upsert: `INSERT INTO oidc_payloads (model, id, payload, grant_id, user_code, uid, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, now() + $7::int * interval '1 second')
    ON CONFLICT (id, model) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id,
      user_code = excluded.user_code, uid = excluded.uid, expires_at = excluded.expires_at`,
  find: findBy('id'),
  findByUid: findBy('uid'),
  findByUserCode: findBy('user_code'),
  consume: 'UPDATE oidc_payloads SET consumed_at = now() WHERE model = $1 AND id = $2',
  destroy: 'DELETE FROM oidc_payloads WHERE model = $1 AND id = $2',
  revokeByGrantId: 'DELETE FROM oidc_payloads WHERE grant_id = $1',
} as const

interface Payload {
  readonly grantId?: string
  readonly userCode?: string
  readonly uid?: string
}

interface FoundRow {
  readonly payload: Payload
  readonly consumed: number | null
}

const perform = (name: keyof typeof statements, ...values: readonly unknown[]): Promise<pg.QueryResult<FoundRow>> =>
  pool.query({ name, text: statements[name], values: [...values] })

async function stored(name: 'find' | 'findByUid' | 'findByUserCode', model: string, value: string) {
  const row = (await perform(name, model, value)).rows[0]
  if (row === undefined) return undefined
  return row.consumed === null ? row.payload : { ...row.payload, consumed: row.consumed }
}

const { usersTable } = setting

/** Reads a user of the table. */
async function claimsOf(sub: string) {
  const text = `SELECT * FROM ${usersTable} WHERE sub = $1 AND active`
  return (await pool.query({ name: 'user', text, values: [sub] })).rows[0]
}

const adapter = (model: string): object => ({
  async upsert(id: string, payload: Payload, expiresIn?: number) {
    const { grantId, userCode, uid } = payload
    await perform('upsert', model, id, JSON.stringify(payload), grantId, userCode, uid, expiresIn)
  },
  find: (id: string) => stored('find', model, id),
  findByUid: (uid: string) => stored('findByUid', model, uid),
  findByUserCode: (userCode: string) => stored('findByUserCode', model, userCode),
  async consume(id: string) {
    await perform('consume', model, id)
  },
  async destroy(id: string) {
    await perform('destroy', model, id)
  },
  async revokeByGrantId(grantId: string) {
    await perform('revokeByGrantId', grantId)
  },
})

serveOidcProvider(setting, adapter, usersTable === undefined ? undefined : claimsOf)
