/** Creates an OAuth error response in the provider's format (wire contract, section 1). */
export function errorResponse(
  status: number,
  error: 'invalid_request' | 'server_error' | 'temporarily_unavailable',
  description?: string,
  more?: Readonly<Record<string, string>>,
): Response {
  const body = { error, ...(description !== undefined && { error_description: description }) }
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'x-content-type-options': 'nosniff',
      connection: 'close',
      ...more,
    },
  })
}

/** The response to a failure of the server rather than the provider. It contains no details. */
export const internalServerError = (): Response => errorResponse(500, 'server_error')

export const overloaded = (): Response =>
  errorResponse(503, 'temporarily_unavailable', 'The service is temporarily unavailable', { 'retry-after': '1' })

export const bodyTimeout = (): Response =>
  errorResponse(408, 'invalid_request', 'The request body did not arrive in time')
