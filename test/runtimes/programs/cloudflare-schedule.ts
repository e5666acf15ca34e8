// Calls the scheduled handler of another Worker, sends it many requests together, and passes other requests on.
interface Environment {
  readonly PROVIDER: {
    fetch(request: Request): Promise<Response>
    scheduled(event: { readonly cron: string }): Promise<{ readonly outcome: string }>
  }
}

const schedule = {
  async fetch(request: Request, { PROVIDER }: Environment): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/many') {
      // From here they arrive together. Those of a client are read one after the other, and each opens nothing new.
      const many = Array.from({ length: 20 }, () =>
        PROVIDER.fetch(new Request(new URL('/.well-known/jwks', request.url))),
      )
      const bodies = (await Promise.all(many)).map(async (response) => `${response.status} ${await response.text()}`)
      return Response.json(await Promise.all(bodies))
    }
    if (pathname !== '/schedule') return PROVIDER.fetch(request)
    const { outcome } = await PROVIDER.scheduled({ cron: '* * * * *' })
    return new Response(outcome)
  },
}

// workerd requires a default export.
export default schedule
