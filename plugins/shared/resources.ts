import type { OAuthError, Refuse } from '@grantry/core'

// An absolute URI (RFC 3986 section 4.3): a scheme, and no fragment.
const absoluteUri = /^[A-Za-z][A-Za-z\d+.-]*:(?:[\w\-.~:/?[\]@!$&'()*+,;=]|%[\dA-Fa-f]{2})*$/u

const maxResources = 20
const maxLength = 2000

const notValid = (reason: string, refuse: Refuse): OAuthError =>
  refuse('invalid_target', 'The requested resource is not valid', reason)

/** Returns the values of a parameter that can repeat. The core joins them with a space. */
function valuesOf(parameter: string, refuse: Refuse): readonly string[] {
  const values = parameter.split(' ', maxResources + 1)
  if (values.length > maxResources) throw notValid('too_many', refuse)
  if (values.some((value) => value.length > maxLength)) throw notValid('too_long', refuse)
  return values
}

/**
 * Returns the values of the parameter `resource`.
 *
 * @throws OAuthError `invalid_target` unless each is an absolute URI without a fragment (RFC 8707 section 2).
 */
export function resourcesIn(parameter: string, refuse: Refuse): readonly string[] {
  const resources = valuesOf(parameter, refuse)
  if (!resources.every((resource) => absoluteUri.test(resource))) throw notValid('malformed', refuse)
  return resources
}

/**
 * Returns the values of the parameter `audience`, which are names (RFC 8693 section 2.1).
 *
 * @throws OAuthError `invalid_target` if there are too many, or one is too long or empty.
 */
export function audiencesIn(parameter: string, refuse: Refuse): readonly string[] {
  const audiences = valuesOf(parameter, refuse)
  if (audiences.includes('')) throw notValid('malformed', refuse)
  return audiences
}
