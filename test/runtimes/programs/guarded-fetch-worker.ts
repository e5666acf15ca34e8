// A Worker that says how it would send a guarded request, and whether the platform lets it reach a URL of this machine.
import { nodeNetwork } from '../../../plugins/shared/node-network.ts'
import { platformSend } from '../../../plugins/shared/pinned-send.ts'

const worker = {
  async fetch(request: Request): Promise<Response> {
    const target = new URL(request.url).searchParams.get('target') ?? ''
    const reached = await platformSend(target, { redirect: 'manual' }).then(
      ({ status }) => status,
      () => 'refused',
    )
    return Response.json({ hasSockets: nodeNetwork() !== undefined, reached })
  },
}

// workerd requires a default export.
export default worker
