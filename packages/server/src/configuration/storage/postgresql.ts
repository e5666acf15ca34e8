import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { numeric } from '../../numeric.ts'
import { readAuthority } from '../authority-file.ts'
import { passwordEntries, passwordOf } from '../password-file.ts'
import type { ConfiguredStorage } from './configured-storage.ts'
import { operationTimeout, prefix, tableName, text } from './fields.ts'

const form =
  'must be a URL such as postgresql://grantry:password@127.0.0.1:5432/grantry; percent-encode special characters of the password, or set storage.password'

export const postgresqlSchema = configurationObject({
  driver: v.literal('postgresql'),
  url: v.pipe(
    v.string(form),
    v.check((url) => URL.canParse(url) && /^postgres(?:ql)?:$/u.test(new URL(url).protocol), form),
  ),
  ...passwordEntries,
  ca: v.optional(text('the path of a file with certificates')),
  schema: tableName('public'),
  prefix,
  maxConnections: v.optional(
    v.pipe(
      numeric('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(1, 'must be 1 to 1000'),
      v.maxValue(1000, 'must be 1 to 1000'),
    ),
    10,
  ),
  operationTimeout,
  preparedStatements: v.optional(v.boolean('must be true or false'), true),
  migrate: v.optional(v.boolean('must be true or false'), true),
  durability: v.optional(v.picklist(['full', 'relaxed'], 'must be "full" or "relaxed"'), 'full'),
})

export type PostgresqlConfiguration = v.InferOutput<typeof postgresqlSchema>

/** Loads the client of PostgreSQL only if it is needed. */
export async function configuredPostgresql(
  { driver: _, ca, password: given, passwordFile, ...options }: PostgresqlConfiguration,
  directory: string,
): Promise<ConfiguredStorage> {
  const { postgresqlDriver } = await import('@grantry/storage-drivers/postgresql')
  const { host, pathname } = new URL(options.url)
  const note = options.durability === 'full' ? '' : ', where a crash can lose the last writes'
  const password = passwordOf({ password: given, passwordFile }, directory, 'storage')
  const tls = ca === undefined ? undefined : { ca: await readAuthority(ca, directory, 'storage.ca') }
  return {
    driver: postgresqlDriver({ ...options, connection: { password, tls } }),
    description: `postgresql: ${host}${pathname}, table ${options.schema}.${options.prefix}_items${note}`,
  }
}
