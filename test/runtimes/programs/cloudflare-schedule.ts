// Calls the scheduled handler of another Worker, and passes other requests on.
interface Environment {
  readonly PROVIDER: {
    fetch(request: Request): Promise<Response>
    scheduled(event: { readonly cron: string }): Promise<{ readonly outcome: string }>
  }
}

const schedule = {
  async fetch(request: Request, { PROVIDER }: Environment): Promise<Response> {
    if (new URL(request.url).pathname !== '/schedule') return PROVIDER.fetch(request)
    const { outcome } = await PROVIDER.scheduled({ cron: '* * * * *' })
    return new Response(outcome)
  },
}

// workerd requires a default export.
export default schedule
