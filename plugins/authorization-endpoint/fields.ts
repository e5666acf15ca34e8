import { defineFields } from '@grantry/core'
import { clientMembers } from './client-members.ts'
import { displays, prompts } from './request.ts'
import { responseModes } from './response.ts'
import type { SessionOptions } from './session-options.ts'

/** OpenID Connect Core section 3.1.2.6, and OpenID Connect Core Error Code unmet_authentication_requirements 1.0. */
const errors = {
  account_selection_required: 400,
  invalid_request_uri: 400,
  registration_not_supported: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,
  unmet_authentication_requirements: 400,
  unsupported_response_type: 400,
} as const

/** Without TLS, browsers drop cookies with `SameSite=None`. */
const issuerCheck =
  ({ sameSite }: Pick<SessionOptions, 'sameSite'>) =>
  (issuer: string): string | undefined =>
    sameSite === 'none' && !issuer.startsWith('https:')
      ? 'sessions.sameSite none requires an https issuer: browsers drop such cookies without TLS; remove it'
      : undefined

/** @param acrValues those that the interaction can reach */
export const fieldsOf = ({
  acrValues,
  sessions,
}: {
  readonly acrValues: readonly string[]
  readonly sessions: Pick<SessionOptions, 'sameSite'>
}) =>
  defineFields({
    checkIssuer: issuerCheck(sessions),
    errors,
    client: clientMembers,
    metadata: {
      response_modes_supported: [...responseModes],
      prompt_values_supported: [...prompts],
      display_values_supported: [...displays],
      authorization_response_iss_parameter_supported: true,
      claims_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      ...(acrValues.length > 0 && { acr_values_supported: [...acrValues] }),
    },
  })
