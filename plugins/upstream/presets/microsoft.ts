import { configurationObject, type OptionsOf, parseConfiguration } from '@grantry/core'
import * as v from 'valibot'
import { presetEntries, text, type UpstreamProvider } from '../upstream-options.ts'

const tenantForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/u
const tenantId = v.pipe(
  v.string('must be the id of a tenant'),
  v.regex(tenantForm, 'must be the id of a tenant, such as 72f988bf-86f1-41af-91ab-2d7cd011db47'),
)

export const microsoftSchema = configurationObject({
  ...presetEntries('microsoft', 'Microsoft'),
  clientSecret: text,
  /** The ids of the tenants whose users may sign in; `*` for all tenants of the world. */
  tenants: v.pipe(
    v.array(v.union([tenantId, v.literal('*')], 'must be the id of a tenant, or *'), 'must be an array of ids'),
    v.minLength(1, 'must not be empty'),
  ),
  /** Whether personal accounts may sign in, too. Only with `*`. */
  personal: v.optional(v.boolean('must be true or false'), false),
})

export type MicrosoftOptions = OptionsOf<typeof microsoftSchema>

const host = 'https://login.microsoftonline.com'
/** The tenant of personal accounts. */
const personalTenant = '9188040d-6c67-4c5b-b112-36a304b66dad'

/**
 * Users sign in with Microsoft Entra ID. Several tenants have one metadata document, and each an `iss` of its own. Users
 * are known by the tenant and `oid`. Their mail address is one that their tenant has entered: it counts as verified only
 * with `xms_edov`.
 *
 * @throws TypeError when an option is malformed.
 */
export function microsoft(options: MicrosoftOptions): UpstreamProvider {
  const { tenants, personal, ...common } = parseConfiguration(microsoftSchema, options, 'microsoft()')
  const [only, ...others] = tenants
  const hasAll = tenants.includes('*')
  const isSingle = !hasAll && others.length === 0
  const directory = isSingle ? only : hasAll && personal ? 'common' : 'organizations'
  const isAllowed = (tenant: string): boolean =>
    tenants.includes(tenant) || (hasAll && (personal || tenant !== personalTenant))
  return {
    ...common,
    issuer: `${host}/${directory}/v2.0`,
    userinfo: false,
    adapter: {
      issuerOf: ({ tid }) =>
        typeof tid === 'string' && tenantForm.test(tid) && isAllowed(tid) ? `${host}/${tid}/v2.0` : undefined,
      // `sub` differs for each application, so a change of the client id would lose all users.
      userOf: ({ oid }) => (typeof oid === 'string' && tenantForm.test(oid) ? oid : undefined),
      verifiesMail: ({ xms_edov: isVerified }) => isVerified === true || isVerified === '1' || isVerified === 1,
    },
  }
}
