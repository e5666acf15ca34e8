/** Creates an OAuth error response in the provider's format (wire contract, section 1). */
export function adapterErrorResponse(
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
export const internalServerError = (): Response => adapterErrorResponse(500, 'server_error')

export const overloaded = (): Response =>
  adapterErrorResponse(503, 'temporarily_unavailable', 'The service is temporarily unavailable', { 'retry-after': '1' })

export const bodyTimeout = (): Response =>
  adapterErrorResponse(408, 'invalid_request', 'The request body did not arrive in time')
