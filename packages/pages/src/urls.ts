/** Only `https` URLs become links and images: a `javascript:` URL would run in the page. */
export const isHttps = (url: string | undefined): url is string =>
  url !== undefined && URL.canParse(url) && new URL(url).protocol === 'https:'
