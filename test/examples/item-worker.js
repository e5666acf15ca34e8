import { durableObjectDriver } from '../../examples/cloudflare-worker/durable-object-driver.ts'

export { Item } from '../../examples/cloudflare-worker/item.ts'

/** Serves the driver of the Workers example over HTTP. `item-driver.js` is the client. */
export default {
  async fetch(request, { ITEMS }) {
    if (request.method === 'GET') return new Response('ready')
    const { operation, parameters } = await request.json()
    try {
      return Response.json({ result: await durableObjectDriver(ITEMS)[operation](...parameters) })
    } catch (error) {
      return Response.json({ reason: String(error) }, { status: 500 })
    }
  },
}
