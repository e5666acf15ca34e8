import { defineFields } from '@grantry/core'
import { clientMembers } from './client-members.ts'
import { displays, prompts } from './request.ts'
import { responseModes } from './response.ts'

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

/** @param acrValues those that the interaction can reach */
export const fieldsOf = (acrValues: readonly string[]) =>
  defineFields({
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
