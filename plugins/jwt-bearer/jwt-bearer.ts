import {
  type Client,
  configurationObject,
  defineGrant,
  definePlugin,
  type MaybePromise,
  type OptionsOf,
  type Plugin,
  parseConfiguration,
  type Subject,
} from '@grantry/core'
import * as v from 'valibot'
import { functionSchema } from '../shared/config-schema.ts'
import { createTrustedIssuers, type TrustedJwt, trustedIssuersEntries } from '../shared/trusted-issuers.ts'

/** The verified claims of an assertion. */
export type AssertionClaims = TrustedJwt['claims']

/** Maps an assertion to a user. Returns `undefined` to refuse it. */
export type SubjectOf = (claims: AssertionClaims, client: Client) => MaybePromise<Subject | undefined>

const settingsSchema = configurationObject({
  ...trustedIssuersEntries,
  /** Maps a verified assertion to a user of this provider. Default: refuses every assertion. */
  subject: functionSchema<SubjectOf>(),
  /** Whether `offline_access` gets a refresh token, which outlives the assertion (RFC 7521 section 4.1). */
  refreshToken: v.optional(v.boolean('must be true or false'), false),
})

export type JwtBearerOptions = OptionsOf<typeof settingsSchema>

const refusal = 'The assertion is not valid'

// No length limit here: the plugin refuses an overlong assertion with `invalid_grant`, like every other one.
const params = v.object({ assertion: v.string() })

/**
 * The JWT bearer grant: exchanges an assertion of a trusted issuer for tokens of a user of this provider.
 *
 * @throws TypeError with one sentence for a mistake in the options.
 * @see RFC 7523 sections 2.1 and 3; RFC 7521 section 4.1
 */
export function jwtBearer(options: JwtBearerOptions): Plugin {
  const settings = parseConfiguration(settingsSchema, options, 'jwtBearer()')
  const { refreshToken, subject: subjectOf = () => undefined } = settings
  const issuers = createTrustedIssuers(settings, 'jwtBearer()')
  const grant = defineGrant({
    grantType: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    params,
    refusal,
    async handle({ client, params: { assertion }, scopes }, kit) {
      const verified = await issuers.verify(assertion, [], kit)
      if ('reason' in verified) throw kit.refuse('invalid_grant', refusal, verified.reason)
      const { claims, singleUse } = verified
      const subject = await kit.callHost('jwtBearer.subject', () => subjectOf(claims, client))
      if (subject === undefined) throw kit.refuse('invalid_grant', refusal, 'subject_unknown')
      return {
        subject,
        scopes,
        issue: refreshToken ? {} : { refreshToken },
        ...(singleUse !== undefined && { redeems: [kit.redemption(singleUse.id, singleUse.expiresAt)] }),
      }
    },
  })
  return definePlugin('jwt-bearer', [grant])
}
