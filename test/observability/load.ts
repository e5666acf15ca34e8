import { Agent, request } from 'node:http'

/** The outcome of a request for its client. */
export type Ending =
  | { readonly kind: 'answered'; readonly status: number; readonly body: string }
  /** No byte was received. */
  | { readonly kind: 'unanswered'; readonly code: string }
  /** The response was truncated. */
  | { readonly kind: 'torn' }

/** Posts a form, and distinguishes complete from truncated responses. */
export function post(
  address: string,
  path: string,
  form: Readonly<Record<string, string>>,
  as: string,
  agent: Agent,
): Promise<Ending> {
  const body = new URLSearchParams(form).toString()
  const headers = {
    authorization: `Basic ${Buffer.from(as).toString('base64')}`,
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(body.length),
  }
  return new Promise((resolve) => {
    const asked = request(address + path, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', () => resolve({ kind: 'torn' }))
      response.on('close', () =>
        resolve(
          response.complete ? { kind: 'answered', status: response.statusCode ?? 0, body: text } : { kind: 'torn' },
        ),
      )
    })
    asked.on('error', (error) =>
      resolve({ kind: 'unanswered', code: (error as { code?: string }).code ?? error.message }),
    )
    asked.end(body)
  })
}

/** Clients that send requests until the server accepts no more connections. */
export async function sendUntilRefused(
  callers: number,
  keepAlive: boolean,
  send: (agent: Agent, caller: number) => Promise<Ending>,
): Promise<readonly Ending[]> {
  const endings: Ending[] = []
  const agent = new Agent({ keepAlive, maxSockets: callers })
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (;;) {
        const ending = await send(agent, caller)
        endings.push(ending)
        if (ending.kind === 'unanswered' && ending.code === 'ECONNREFUSED') return
      }
    }),
  )
  agent.destroy()
  return endings
}
