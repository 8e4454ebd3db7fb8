/** Style sheets are loaded with the part of the page that imports them. */
declare module '*.css';
