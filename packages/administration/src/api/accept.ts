import type { EndpointRequest, Kit } from '@grantry/core'

/** Ranges of media types that include JSON. */
const fitting: ReadonlySet<string> = new Set(['*/*', 'application/*', 'application/json', 'application/problem+json'])

const isRefused = (parameters: readonly string[]): boolean =>
  parameters.some((parameter) => /^\s*q=0(?:\.0{0,3})?\s*$/iu.test(parameter))

/**
 * @throws OAuthError 406, if the caller does not accept JSON
 * @see RFC 9110 section 12.5.1
 */
export function assertAccepted({ header }: Pick<EndpointRequest, 'header'>, kit: Pick<Kit, 'refuse'>): void {
  const accept = header('accept')
  if (accept === null || accept.trim() === '') return
  const isAccepted = accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';')
    return fitting.has(type.trim().toLowerCase()) && !isRefused(parameters)
  })
  if (isAccepted) return
  throw kit.refuse('invalid_request', 'Responses are application/json', 'not_acceptable', { status: 406 })
}
