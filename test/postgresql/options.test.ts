// Invalid options throw immediately, with a message that does not quote a URL, which may contain a password.
import {
  type PostgresqlDriverOptions,
  postgresqlDriver,
  postgresqlMigration,
} from '@grantry/storage-drivers/postgresql'
import { describe, expect, test } from 'vitest'

const secret = 'the-p@ssword'
const quoted = encodeURIComponent(secret)
const url = `postgresql://grantry:${quoted}@127.0.0.1/tokens`

describe('postgresqlDriver() throws', () => {
  test.each<[what: string, options: unknown, sentence: RegExp]>([
    ['without a URL', {}, /the url does not have the form postgresql:\/\//u],
    ['with another protocol', { url: `http://:${quoted}@127.0.0.1` }, /the url does not have the form/u],
    ['with an invalid URL', { url: `postgresql://a:${secret}@ x:y` }, /the url does not have the form/u],
    ['without a user', { url: 'postgresql://127.0.0.1/tokens' }, /the url does not have the form/u],
    ['without a database', { url: `postgresql://a:${quoted}@127.0.0.1` }, /the url does not have the form/u],
    ['with a path', { url: `${url}/more` }, /the url does not have the form/u],
    ['with an unknown parameter', { url: `${url}?sslmod=require` }, /the url does not have the form/u],
    ['with TLS that verifies nothing', { url: `${url}?sslmode=prefer` }, /sslmode is disable, require/u],
    ['with a parameter twice', { url: `${url}?sslmode=disable&sslmode=require` }, /does not have the form/u],
    ['with a password that is not encoded', { url: 'postgresql://a:the#p@127.0.0.1/b' }, /; percent-encode special/u],
    ['with a password that cannot be decoded', { url: 'postgresql://a:%ff@127.0.0.1/b' }, /does not have the form/u],
    ['with quotes in the prefix', { url, prefix: 'a"b' }, /prefix must be 1 to 40 lower-case letters/u],
    ['with an empty prefix', { url, prefix: '' }, /prefix must be/u],
    ['with a long prefix', { url, prefix: 'x'.repeat(41) }, /prefix must be/u],
    ['with an injection in the schema', { url, schema: 'public"; DROP TABLE x; --' }, /schema must be/u],
    ['with no connections', { url, maxConnections: 0 }, /maxConnections must be/u],
    ['with a time limit of 0', { url, operationTimeout: 0 }, /operationTimeout must be/u],
    ['with a time limit that is not a number', { url, operationTimeout: Number.NaN }, /operationTimeout/u],
    ['with an unknown durability', { url, durability: 'none' }, /durability must be full or relaxed/u],
    ['with text for a switch', { url, migrate: 'false' }, /migrate must be true or false/u],
    ['with text for a switch', { url, preparedStatements: 'no' }, /preparedStatements must be true or false/u],
  ])('%s', (_, options, sentence) => {
    expect(() => postgresqlDriver(options as PostgresqlDriverOptions)).toThrow(sentence)
    expect(() => postgresqlDriver(options as PostgresqlDriverOptions)).not.toThrow('the-p')
  })
})

test('postgresqlMigration() throws for a name that needs quotes, and names the schema and the table', () => {
  expect(() => postgresqlMigration({ schema: 'a"b' })).toThrow('schema must be')
  const sql = postgresqlMigration({ schema: 'identity', prefix: 'app' })
  expect(sql).toContain('CREATE SCHEMA "identity"')
  expect(sql).toContain('CREATE TABLE "identity"."app_items"')
})
