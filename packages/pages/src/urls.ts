import { parseUrl } from '@grantry/core'

/** Only `https` URLs become links and images: a `javascript:` URL would run in the page. */
export const isHttps = (url: string | undefined): url is string =>
  url !== undefined && parseUrl(url)?.protocol === 'https:'
