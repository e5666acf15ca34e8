import { request as httpRequest } from 'node:http'

/** Sends requests for any issuer to one server. */
export const fetchAt =
  (port: number) =>
  async (request: Request): Promise<Response> => {
    const { host, pathname, search } = new URL(request.url)
    const body = await request.text()
    const headers = { ...Object.fromEntries(request.headers), host }
    return new Promise((resolve, reject) => {
      const sent = httpRequest({ method: request.method, path: pathname + search, port, headers })
      sent.once('error', reject)
      sent.once('response', async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        const received = new Headers()
        for (const [name, values] of Object.entries(response.headersDistinct)) {
          for (const value of values ?? []) received.append(name, value)
        }
        resolve(new Response(Buffer.concat(chunks), { status: response.statusCode ?? 0, headers: received }))
      })
      sent.end(body)
    })
  }
