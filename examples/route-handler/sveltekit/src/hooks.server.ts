interface Event {
  readonly request: Request
  readonly url: URL
}

const formTypes =
  /^(?:application\/x-www-form-urlencoded|application\/x-sveltekit-formdata|multipart\/form-data|text\/plain)\b/iu
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const isForeignForm = ({ request, url }: Event): boolean =>
  !safeMethods.has(request.method) &&
  formTypes.test(request.headers.get('content-type') ?? '') &&
  request.headers.get('origin') !== url.origin

/**
 * `svelte.config.js` accepts forms from all origins, because a token request comes from no page and carries a secret
 * instead of a cookie. This hook keeps SvelteKit's CSRF protection for your own routes, so add none below `/connect/`.
 */
export const handle = <E extends Event>({
  event,
  resolve,
}: {
  event: E
  resolve: (event: E) => Response | Promise<Response>
}) =>
  !event.url.pathname.startsWith('/connect/') && isForeignForm(event)
    ? new Response('Cross-site forms are forbidden', { status: 403 })
    : resolve(event)
