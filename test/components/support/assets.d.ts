/** The address at which the server of the tests has a file. */
declare module '*?url' {
  const address: string;
  // eslint-disable-next-line no-restricted-syntax
  export default address;
}
